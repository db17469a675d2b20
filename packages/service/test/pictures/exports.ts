/** Logos as drawing programs save them, with all that such files have beside the drawing. */
export const EXPORTS: Readonly<Record<string, string>> = {
  Inkscape: `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- Created with Inkscape (http://www.inkscape.org/) -->
<svg width="52.916668mm" height="26.458334mm" viewBox="0 0 52.916668 26.458334" version="1.1" id="svg5"
   inkscape:version="1.2.2 (b0a8486541, 2022-12-01)" sodipodi:docname="logo.svg"
   xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"
   xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" xmlns:svg="http://www.w3.org/2000/svg">
  <sodipodi:namedview id="namedview7" pagecolor="#ffffff" bordercolor="#000000" inkscape:pageshadow="2" showgrid="false"/>
  <defs id="defs2">
    <linearGradient inkscape:collect="always" id="linearGradient1210">
      <stop style="stop-color:#0a6b4b;stop-opacity:1;" offset="0" id="stop1206"/>
      <stop style="stop-color:#ffcc00;stop-opacity:1;" offset="1" id="stop1208"/>
    </linearGradient>
    <linearGradient inkscape:collect="always" xlink:href="#linearGradient1210" id="linearGradient1212" x1="85.3" y1="120.8"
       x2="126.1" y2="141.2" gradientUnits="userSpaceOnUse" gradientTransform="matrix(0.99999,2.1e-17,-3.4e-16,1.00001,0,0)"/>
    <filter inkscape:collect="always" style="color-interpolation-filters:sRGB" id="filter1300" x="-0.096" y="-4.8"
       width="1.192" height="10.6"><feGaussianBlur inkscape:collect="always" stdDeviation="0.35" id="feGaussianBlur1302"/></filter>
    <pattern id="hatch" patternUnits="userSpaceOnUse" width="1.2" height="1.2" patternTransform="translate(0,0) scale(0.8)">
      <rect style="fill:#0a6b4b" width="0.6" height="1.2"/></pattern>
  </defs>
  <g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1" transform="translate(-82.020833,-118.00521)">
    <path style="fill:url(#linearGradient1212);fill-opacity:1;stroke:none;stroke-width:0.264583" id="path846"
       d="m 85.25,131.2 c 0,-5.5 4.4,-9.9 9.9,-9.9 5.5,0 9.9,4.4 9.9,9.9 0,5.5 -4.4,9.9 -9.9,9.9 -5.5,0 -9.9,-4.4 -9.9,-9.9 z"
       sodipodi:nodetypes="sssss"/>
    <rect style="fill:#222222;filter:url(#filter1300)" id="rect900" width="24" height="0.4" x="107" y="140"/>
    <rect style="fill:url(#hatch)" id="rect902" width="12" height="5" x="108" y="122"/>
    <path style="fill:none;stroke:#0a6b4b;stroke-width:0.5;stroke-dasharray:1, 0.5;stroke-dashoffset:0" id="path904"
       d="m 108,131 h 20 v 5 h -20 z"/>
  </g>
</svg>`,
  Illustrator: `<?xml version="1.0" encoding="UTF-8"?>
<svg id="Layer_2" data-name="Layer 2" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 512.01 256.5">
  <defs>
    <style>
      .cls-1 { fill: none; }
      .cls-1, .cls-2, .cls-3 { stroke-width: 0px; }
      .cls-4 { clip-path: url(#clippath); }
      .cls-2 { fill: url(#radial-gradient); }
      .cls-5 { fill: none; stroke: #231f20; stroke-dasharray: 0 0 12.03 12.03; stroke-linecap: round; stroke-miterlimit: 10; stroke-width: 6px; }
      .cls-3 { fill: #ed1c24; mix-blend-mode: multiply; opacity: .75; }
      .cls-6 { isolation: isolate; }
    </style>
    <clipPath id="clippath"><rect class="cls-1" x="-.5" width="256" height="256"/></clipPath>
    <radialGradient id="radial-gradient" cx="-1431.2" cy="8021.4" fx="-1431.2" fy="8021.4" r="1"
      gradientTransform="translate(184322.4 1028160.2) scale(128.7 -128.2)" gradientUnits="userSpaceOnUse">
      <stop offset="0" stop-color="#fff33b"/><stop offset=".52" stop-color="#f15a29"/><stop offset="1" stop-color="#be1e2d"/>
    </radialGradient>
  </defs>
  <g class="cls-6"><g id="Layer_1-2" data-name="Layer 1"><g class="cls-4">
    <path class="cls-2" d="m128,256.5C57.41,256.5,0,199.09,0,128.5S57.41.5,128,.5s128,57.41,128,128-57.41,128-128,128Z"/>
    <polygon class="cls-3" points="128 40.5 153.6 107.4 225.2 111.1 169.4 156.2 188.1 225.3 128 186.2 67.9 225.3 86.6 156.2 30.8 111.1 102.4 107.4 128 40.5"/>
  </g><circle class="cls-5" cx="384" cy="128.5" r="102.4"/></g></g>
</svg>`,
  Figma: `<svg width="160" height="80" viewBox="0 0 160 80" fill="none" xmlns="http://www.w3.org/2000/svg">
<g clip-path="url(#clip0_12_34)">
<mask id="mask0_12_34" style="mask-type:alpha" maskUnits="userSpaceOnUse" x="0" y="0" width="80" height="80">
<path fill-rule="evenodd" clip-rule="evenodd" d="M40 80C62.0914 80 80 62.0914 80 40C80 17.9086 62.0914 0 40 0C17.9086 0 0 17.9086 0 40C0 62.0914 17.9086 80 40 80Z" fill="#D9D9D9"/>
</mask>
<g mask="url(#mask0_12_34)">
<rect width="80" height="80" fill="url(#paint0_linear_12_34)"/>
<g filter="url(#filter0_f_12_34)"><circle cx="60" cy="20" r="24" fill="white" fill-opacity="0.6"/></g>
</g>
<g filter="url(#filter1_ddi_12_34)"><rect x="92" y="20" width="56" height="40" rx="12" fill="#5B5BD6" shape-rendering="crispEdges"/></g>
</g>
<defs>
<filter id="filter0_f_12_34" x="16" y="-24" width="88" height="88" filterUnits="userSpaceOnUse" color-interpolation-filters="sRGB">
<feFlood flood-opacity="0" result="BackgroundImageFix"/>
<feBlend mode="normal" in="SourceGraphic" in2="BackgroundImageFix" result="shape"/>
<feGaussianBlur stdDeviation="10" result="effect1_foregroundBlur_12_34"/>
</filter>
<filter id="filter1_ddi_12_34" x="84" y="16" width="72" height="60" filterUnits="userSpaceOnUse" color-interpolation-filters="sRGB">
<feFlood flood-opacity="0" result="BackgroundImageFix"/>
<feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127 0" result="hardAlpha"/>
<feOffset dy="4"/><feGaussianBlur stdDeviation="4"/><feComposite in2="hardAlpha" operator="out"/>
<feColorMatrix type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.25 0"/>
<feBlend mode="normal" in2="BackgroundImageFix" result="effect1_dropShadow_12_34"/>
<feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127 0" result="hardAlpha"/>
<feOffset dy="8"/><feGaussianBlur stdDeviation="3"/>
<feColorMatrix type="matrix" values="0 0 0 0 0.2 0 0 0 0 0.1 0 0 0 0 0.6 0 0 0 0.3 0"/>
<feBlend mode="normal" in2="effect1_dropShadow_12_34" result="effect2_dropShadow_12_34"/>
<feBlend mode="normal" in="SourceGraphic" in2="effect2_dropShadow_12_34" result="shape"/>
<feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127 0" result="hardAlpha"/>
<feOffset dy="1"/><feGaussianBlur stdDeviation="1"/><feComposite in2="hardAlpha" operator="arithmetic" k2="-1" k3="1"/>
<feColorMatrix type="matrix" values="0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0.5 0"/>
<feBlend mode="normal" in2="shape" result="effect3_innerShadow_12_34"/>
</filter>
<linearGradient id="paint0_linear_12_34" x1="0" y1="0" x2="80" y2="80" gradientUnits="userSpaceOnUse">
<stop stop-color="#30A46C"/><stop offset="1" stop-color="#0A6B4B"/></linearGradient>
<clipPath id="clip0_12_34"><rect width="160" height="80" fill="white"/></clipPath>
</defs>
</svg>`,
  Sketch: `<?xml version="1.0" encoding="UTF-8"?>
<svg width="120px" height="60px" viewBox="0 0 120 60" version="1.1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<title>Logo</title>
<defs>
  <polygon id="path-1" points="0 0 60 0 60 60 0 60"/>
  <filter x="-25.0%" y="-20.0%" width="150.0%" height="150.0%" filterUnits="objectBoundingBox" id="filter-2">
    <feOffset dx="0" dy="2" in="SourceAlpha" result="shadowOffsetOuter1"/>
    <feGaussianBlur stdDeviation="2" in="shadowOffsetOuter1" result="shadowBlurOuter1"/>
    <feColorMatrix values="0 0 0 0 0   0 0 0 0 0   0 0 0 0 0  0 0 0 0.5 0" in="shadowBlurOuter1" result="shadowMatrixOuter1"/>
    <feMerge><feMergeNode in="shadowMatrixOuter1"/><feMergeNode in="SourceGraphic"/></feMerge>
  </filter>
</defs>
<g id="Page-1" stroke="none" stroke-width="1" fill="none" fill-rule="evenodd">
  <g id="Group" transform="translate(60.000000, 30.000000) rotate(-15.000000) translate(-60.000000, -30.000000)">
    <mask id="mask-3" fill="white"><use xlink:href="#path-1"/></mask>
    <use id="Mask" fill="#F5A623" xlink:href="#path-1"/>
    <circle fill="#D0021B" mask="url(#mask-3)" cx="60" cy="30" r="25"/>
    <path d="M75,10 a15,15 0 0130,0 a15 15 0 1 1-30 0" fill="#4A90E2" filter="url(#filter-2)"/>
  </g>
</g>
</svg>`,
  potrace: `<?xml version="1.0" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 20010904//EN" "http://www.w3.org/TR/2001/REC-SVG-20010904/DTD/svg10.dtd">
<svg version="1.0" xmlns="http://www.w3.org/2000/svg" width="1280.000000pt" height="640.000000pt" viewBox="0 0 1280.000000 640.000000" preserveAspectRatio="xMidYMid meet">
<metadata>Created by potrace 1.15, written by Peter Selinger 2001-2017</metadata>
<g transform="translate(0.000000,640.000000) scale(0.100000,-0.100000)" fill="#000000" stroke="none">
<path d="M3050 6150 c-820 -75 -1590 -460 -2130 -1065 -480 -538 -760 -1196 -815 -1915 -18 -236 -4 -542 35 -770 190 -1105 960 -2010 2010 -2365 331 -112 640 -160 1020 -158 1140 5 2170 660 2680 1705 230 470 340 930 340 1428 0 800 -300 1530 -860 2090 -540 540 -1240 840 -2000 860 -110 3 -236 -2 -280 -10z m3000 -2000 l0 -1200 4000 0 0 1200 z"/>
</g>
</svg>`,
};
