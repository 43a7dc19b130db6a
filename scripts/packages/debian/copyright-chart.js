
Files: chart.min.js
Copyright: Chart.js Contributors
License: Expat
Comment:
 The program farvec holds a copy of it, which it writes into pages of reports.

License: Expat
 The copy is that of Debian's package libjs-chart.js, whose copyright file, with
 the full text of the license, is chart.js.copyright beside this file.
