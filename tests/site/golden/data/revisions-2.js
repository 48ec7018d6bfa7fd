KD.add("revisions",{
"3":["../../../etc/passwd","\u003c/script\u003e\u003cscript\u003ealert(2)\u003c/script\u003e\n�[31mred",""]});
