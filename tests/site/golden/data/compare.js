tracker.data.add("compare",{"contenders":[
["\u003cscript\u003ealert('1')\u003c/script\u003e\"\u0026 · tile=\"4\"","lab/cpu","data/revisions-2.js","compare-0","data/compare-0.js"],
["openblas","lab/cpu","data/revisions-1.js","compare-0","data/compare-0.js"]],"tie":0.01,"pair":[0,1],"manifest":"data/manifest.js","problems":[
["GEMM","gemm f32 512x512x512 nn","f32"],
["Attention","attention f32 B1 H8 S1024 D64 causal","f32"]]});
