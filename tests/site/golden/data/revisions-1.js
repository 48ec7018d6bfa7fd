tracker.data.add("revisions",{
"1":["1111111111111111111111111111111111111111","Start","https://github.com/OpenMathLib/OpenBLAS/commit/1111111111111111111111111111111111111111","revisions/openblas-111111111111-156b6e4a.html"],
"2":["2222222222222222222222222222222222222222","Block the kernel for a larger cache","https://github.com/OpenMathLib/OpenBLAS/commit/2222222222222222222222222222222222222222","revisions/openblas-222222222222-4768d472.html"]});
tracker.data.add("data/revisions-1.js",{"ids":[1,2]});
