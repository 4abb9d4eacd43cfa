/** The pages' style sheet, inlined and allowed by its hash, so that a page is a single request. */
import { hash } from 'node:crypto';
import { timelineStyle } from './timeline-markup.ts';

export const style = `
:root {
  color-scheme: light dark;
  --page: #f4f4f1; --card: #ffffff; --text: #1c1d1f; --quiet: #63666b; --line: #e4e4df; --edge: #c9c9c3;
  --chip: #f1f1ed; --accent: #1c1d1f; --on-accent: #ffffff; --accent-hover: #3a3c40;
  --hover: #f5f5f2; --focus: #3056d3; --good: #1d7a4c; --good-tint: #e5f4ea; --warn: #8a5300; --warn-tint: #fdf1dc; --bad: #b3261e; --bad-tint: #fbe9e7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121315; --card: #1b1d20; --text: #eeeeec; --quiet: #a0a3a9; --line: #303338; --edge: #55595f;
    --chip: #272a2e; --accent: #f1f1ef; --on-accent: #17181a; --accent-hover: #d6d6d2;
    --hover: #24272b; --focus: #93aaff; --good: #6fd19c; --good-tint: #183526; --warn: #f2c274; --warn-tint: #382a12; --bad: #ff9c94; --bad-tint: #3d1a17;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100vh; min-height: 100svh; padding: 1.5rem 1rem; display: flex; flex-direction: column;
  align-items: center; justify-content: center; gap: 1.25rem; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100%;
}
main {
  position: relative; width: 100%; max-width: 27rem; padding: 2.25rem 2rem 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1.125rem; box-shadow: 0 1px 2px rgb(0 0 0 / .04), 0 12px 32px -12px rgb(0 0 0 / .10);
}
h1 { hyphens: auto; margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; font-weight: 640; letter-spacing: -.015em; overflow-wrap: anywhere; text-wrap: balance }
p { margin: 0 0 .75rem; overflow-wrap: anywhere; text-wrap: pretty }
.lead { color: var(--quiet); margin-bottom: 0 }
.lead strong { color: var(--text); font-weight: 600 }
.mark {
  display: grid; place-items: center; width: 3rem; height: 3rem; margin-bottom: 1.25rem; border-radius: .875rem;
  background: var(--chip); font-size: 1.25rem; font-weight: 640;
}
.mark.server { overflow: hidden; background: none }
.mark.server svg, .mark.server img { width: 100%; height: 100%; stroke: none; fill: none; object-fit: cover }
.mark.server text { font-size: 1.25rem; font-weight: 640 }
.mark.quiet { color: var(--quiet) }
.mark.good { background: var(--good-tint); color: var(--good) }
.mark.warn { background: var(--warn-tint); color: var(--warn) }
.mark svg { width: 1.5rem; height: 1.5rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
dl { margin: 1.5rem 0 0; border-top: 1px solid var(--line) }
dl > div { display: grid; grid-template-columns: 6.5rem 1fr; gap: .25rem 1rem; padding: .6875rem 0; border-bottom: 1px solid var(--line) }
dt { color: var(--quiet); font-size: .9375rem }
dd { margin: 0; font-size: .9375rem; overflow-wrap: anywhere }
dd strong { font-weight: 600 }
dd small { display: block; color: var(--quiet); font-size: .875rem }
ul.scopes { display: flex; flex-wrap: wrap; gap: .375rem; list-style: none; margin: 0; padding: 0 }
.scopes li { padding: .0625rem .5rem; border-radius: .4375rem; background: var(--chip); font: .875rem/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace }
.warning { margin: 1.25rem 0 0; padding: .75rem .875rem; border-radius: .75rem; background: var(--warn-tint); color: var(--warn); font-size: .9375rem }
.actions { display: flex; flex-direction: column; gap: .625rem; margin: 1.5rem 0 0 }
button, .button {
  appearance: none; display: block; width: 100%; padding: .75rem 1rem; border: 1px solid transparent; border-radius: .75rem;
  font: inherit; font-weight: 600; line-height: 1.375; text-align: center; text-decoration: none; cursor: pointer;
  background: var(--accent); color: var(--on-accent); overflow-wrap: anywhere;
}
button:hover, .button:hover { background: var(--accent-hover) }
button.quiet, .button.quiet { background: transparent; color: var(--text); border-color: var(--edge) }
button.quiet:hover, .button.quiet:hover { background: var(--hover) }
.dismiss { position: absolute; inset-block-start: 1rem; inset-inline-end: 1rem; width: 2.5rem; height: 2.5rem; padding: .625rem; background: none; color: var(--quiet) }
.dismiss:hover { background: var(--hover); color: var(--text) }
.dismiss svg { display: block; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round }
[data-step=waiting] .mark { animation: wait 1.8s ease-out infinite }
@keyframes wait { from { box-shadow: 0 0 0 0 var(--focus) } 80%, to { box-shadow: 0 0 0 .625rem transparent } }
@media (prefers-reduced-motion: reduce) { [data-step=waiting] .mark { animation: none; box-shadow: 0 0 0 2px var(--focus) } }
.aside { margin: 1.25rem 0 0; color: var(--quiet); font-size: .875rem; text-align: center }
[data-step] h1:focus { outline: none }
.field { margin: 1.5rem 0 0 }
label { font-weight: 600 }
input:not([type=radio], [type=checkbox]), select, textarea {
  display: block; width: 100%; margin: .375rem 0 0; padding: .75rem .875rem; border: 1px solid var(--quiet); border-radius: .75rem;
  background: var(--card); color: var(--text); font: inherit; line-height: 1.375;
}
textarea { resize: vertical }
input[inputmode] { max-width: 10rem }
input[type^=date] { max-width: 17rem }
.address strong { font-weight: 640 }
input:not([type=radio], [type=checkbox])[aria-invalid], textarea[aria-invalid], select[aria-invalid] { border-color: var(--bad); border-width: 2px; padding: calc(.75rem - 1px) calc(.875rem - 1px) }
.problem { margin: .25rem 0 .5rem; color: var(--bad); font-size: .9375rem }
fieldset { min-width: 0; padding: 0; border: 0 }
legend { padding: 0; font-weight: 600 }
label small, legend small { color: var(--quiet); font-size: .875rem; font-weight: 400 }
.tick { display: flex; gap: .625rem; align-items: baseline; padding: .375rem 0; font-weight: 400; overflow-wrap: anywhere }
.tick input { flex: none; margin: 0; accent-color: var(--accent); translate: 0 .125rem }
summary { color: var(--quiet); cursor: pointer; font-size: .9375rem }
summary + label { display: block; margin-top: .75rem }
.message { white-space: pre-line }
.arguments { margin: 1.5rem 0 0 }
.arguments figcaption { color: var(--quiet); font-size: .9375rem }
.arguments code { color: var(--text); overflow-wrap: anywhere }
pre, .address {
  margin: .5rem 0 0; padding: .75rem .875rem; max-height: 18rem; overflow: auto; border-radius: .75rem; background: var(--chip);
  font: .875rem/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
}
.address { margin-top: 1.5rem }
.help { margin: .5rem 0 0; color: var(--quiet); font-size: .875rem }
:is(label, legend, .tick, .help) + .help { margin-top: .125rem }
.problem[role=alert] { margin: 1.25rem 0 0; padding: .75rem .875rem; border-radius: .75rem; background: var(--bad-tint) }
main.wide { max-width: 38rem }
main.wide .lead { margin-bottom: 1.5rem }
main.wide > .actions { padding-top: 1.5rem; border-top: 1px solid var(--line) }
main.full { max-width: 56rem }
h2 { margin: 0; font-size: 1.0625rem; line-height: 1.35; font-weight: 620; overflow-wrap: anywhere }
.news { margin-bottom: 1.5rem; padding: .75rem .875rem; border-radius: .75rem; background: var(--good-tint); color: var(--good) }
ul.connections { list-style: none; margin: 0; padding: 0 }
.connections > li { padding: 1.5rem 0; border-top: 1px solid var(--line) }
.connections > li:last-child { padding-bottom: 0 }
.head { display: grid; grid-template-columns: auto 1fr auto; align-items: center; gap: .25rem .875rem }
.head .mark { width: 2.5rem; height: 2.5rem; margin: 0; border-radius: .6875rem; font-size: 1.0625rem }
.host { margin: 0; color: var(--quiet); font-size: .875rem }
.badge { padding: .125rem .625rem; border-radius: 1rem; background: var(--chip); color: var(--quiet); font-size: .8125rem; font-weight: 600; white-space: nowrap }
.badge.good { background: var(--good-tint); color: var(--good) }
.badge.warn { background: var(--warn-tint); color: var(--warn) }
.badge.bad { background: var(--bad-tint); color: var(--bad) }
.remark { margin: .875rem 0 0; color: var(--quiet); font-size: .9375rem }
.remark.warn { color: var(--warn) }
.connections dl { margin: 1rem 0 0; border: 0 }
.connections dl > div { padding: .1875rem 0; border: 0 }
ul.questions { list-style: none; margin: .75rem 0 1.5rem; padding: 0 }
.questions li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; padding: .875rem 1rem; border-radius: .75rem; background: var(--chip) }
.questions li + li { margin-top: .5rem }
.questions .mark { flex: none; width: 2.25rem; height: 2.25rem; margin: 0; border-radius: .625rem }
.questions li > div:not(.mark) { flex: 1 1 14rem; min-width: 0 }
.questions p { margin: 0 }
.questions .button { width: auto; padding: .5rem 1rem; border-radius: .625rem; font-size: .9375rem }
.approvals { margin: 1.5rem 0 0; padding: 1.5rem 0 0; border-top: 1px solid var(--line) }
.approvals .remark { margin: .25rem 0 0 }
.approvals ul { list-style: none; margin: .5rem 0 0; padding: 0 }
.approvals li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; padding: .75rem 0 }
.approvals li > div { flex: 1 1 14rem; min-width: 0; overflow-wrap: anywhere }
.approvals h3 { margin: 0; font-size: 1rem; font-weight: 600 }
.approvals button { width: auto; padding: .5rem 1rem; border-radius: .625rem; font-size: .9375rem }
.choices { display: flex; flex-wrap: wrap; gap: .625rem; margin: 1.125rem 0 0 }
.choices button, .choices .button { width: auto; padding: .5rem 1rem; border-radius: .625rem; font-size: .9375rem }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
footer { max-width: 27rem; color: var(--quiet); font-size: .875rem; text-align: center; overflow-wrap: anywhere }
footer form { display: inline }
footer button, .aside button { display: inline; width: auto; padding: .25rem; margin: -.25rem; border: 0; border-radius: .25rem; background: none; color: inherit; font-weight: 400; text-decoration: underline; text-underline-offset: .15em }
footer button:hover, .aside button:hover { background: none; color: var(--text) }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: -.5rem 0 1.25rem; font-size: .9375rem }
nav a { padding: .25rem 0; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent }
nav a:hover { color: var(--text) }
nav b { padding: 0 .4375rem; border-radius: 1rem; background: var(--warn-tint); color: var(--warn); font-size: .8125rem }
nav a[aria-current] { color: var(--text); border-color: currentColor; font-weight: 600 }
.full a { color: inherit; text-underline-offset: .15em }
.full .head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between }
.full .head h1 { flex: 1 1 12rem }
.full h1 { margin-bottom: .25rem }
.full code { font: .875em ui-monospace, "SF Mono", Menlo, Consolas, monospace }
.full section { margin-top: 2rem }
.full section h2 { margin-bottom: .75rem }
.full dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem }
.filter { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); gap: .75rem; align-items: end; margin: 1rem 0 1.5rem }
.filter label { color: var(--quiet); font-size: .875rem; font-weight: 400 }
.filter input:not([type=radio], [type=checkbox]), .filter select { margin-top: .25rem; padding: .5rem .625rem; border-radius: .625rem; min-height: 2.75rem }
.filter button { padding: .5rem .75rem; min-height: 2.75rem; border-radius: .625rem }
ul.seen { list-style: none; margin: 0; padding: 0 }
.seen > li { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between; gap: .25rem 1rem; padding: .875rem 0; border-top: 1px solid var(--line) }
.seen > li > div { flex: 1 1 16rem; min-width: 0 }
.seen h2 { font-size: 1rem }
.seen h2 a { display: inline-block; padding-block: .125rem }
.seen p { margin: .125rem 0 0 }
.waits { color: var(--warn); font-size: .9375rem }
.open-question { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin-top: .75rem; padding: .75rem .875rem; border-radius: .75rem; background: var(--warn-tint); color: var(--warn) }
.open-question p { flex: 1 1 16rem; margin: 0 }
.open-question .button { width: auto; padding: .5rem 1rem; border-radius: .625rem; font-size: .9375rem; color: inherit; border-color: currentColor }
.links { display: flex; gap: 1rem }
.older { margin-top: 1rem }
.older .button { width: auto; display: inline-block }
${timelineStyle}
@media (max-width: 30rem) {
  body { padding: .75rem }
  main { padding: 1.75rem 1.25rem 1.25rem }
  dl > div { grid-template-columns: 5.75rem 1fr }
  .head { grid-template-columns: auto 1fr }
  .head .badge { grid-column: 1 / -1; justify-self: start; margin-top: .25rem }
}
@media (forced-colors: active) { button, .button, .mark, .badge { border: 1px solid } }
`;

export const styleHash = `sha256-${hash('sha256', style, 'base64')}`;
