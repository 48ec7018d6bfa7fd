tracker.data.add("revisions",{
"3":["../../../etc/passwd","\u003c/script\u003e\u003cscript\u003ealert(2)\u003c/script\u003e\n�[31mred","","revisions/_script_alert__1____script___-.._.._.._etc_passwd-eb6a7dc4-28f18d494e.html"]});
tracker.data.add("data/revisions-2.js",{"ids":[3]});
