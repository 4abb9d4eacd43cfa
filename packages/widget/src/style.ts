/**
 * The widget's style sheet. Hosts set `--interlude-accent`, `--interlude-font`, `--interlude-radius` and the like on the element.
 */

/**
 * Colours, the floating panel and the scrolling log. Inherited text styles are reset. Log and foot reserve room for
 * the scroll bar on both sides, to stay aligned.
 */
const frame = `
:host {
  display: flex; flex-direction: column; height: 100%; min-width: min(20rem, 100%); min-height: 20rem; max-height: 100dvh; container-type: inline-size;
  --unit: var(--interlude-unit, 1REM);
  --accent: var(--interlude-accent, light-dark(#1c1d1f, #f1f1ef));
  --on-accent: var(--interlude-on-accent, light-dark(#fff, #17181a));
  --focus: var(--interlude-focus, light-dark(#3056d3, #93aaff));
  --text: var(--interlude-text, light-dark(#1c1d1f, #eeeeec));
  --quiet: var(--interlude-quiet, light-dark(#63666b, #a0a3a9));
  --ground: var(--interlude-ground, light-dark(#fff, #1b1d20));
  --raised: var(--interlude-raised, light-dark(#f4f4f1, #272a2e));
  --card: light-dark(var(--ground), color-mix(in srgb, var(--raised) 45%, var(--ground)));
  --line: light-dark(#e4e4df, #383c42);
  --edge: light-dark(#8b8d90, #73777e);
  --good: light-dark(#1d7a4c, #6fd19c);
  --warn: light-dark(#8a5300, #f2c274);
  --bad: light-dark(#b3261e, #ff9c94);
  --radius: var(--interlude-radius, .875rem);
  --inner: calc(var(--radius) * .75);
  --outer: calc(var(--radius) * 1.4);
  color-scheme: light dark;
  font: var(--interlude-font, 400 1rem/1.5 system-ui, sans-serif);
  text-align: start; text-transform: none; text-indent: 0; white-space: normal; letter-spacing: normal; word-spacing: normal; cursor: auto;
}
:host([theme=light]) { color-scheme: light }
:host([theme=dark]) { color-scheme: dark }
:host([hidden]), [hidden] { display: none !important }
:host([floating]) { position: fixed; z-index: 2147483000; inset-block-end: 1rem; inset-inline-end: 1rem; width: auto; height: auto; min-width: 0; min-height: 0; max-height: none; container-type: normal }
.panel { display: flex; flex-direction: column; width: min(26rem, 100vw - 2rem); height: min(42rem, 100dvh - 2rem); overflow: hidden; border: 1px solid var(--line); border-radius: var(--outer); background: var(--ground); box-shadow: 0 12px 40px -8px #0006; container-type: inline-size }
.place { display: contents }
.head { display: flex; align-items: center; justify-content: space-between; padding-block: .375rem; padding-inline: 1rem .5rem; border-block-end: 1px solid var(--line); color: var(--text); font-weight: 620 }
.head .quiet:not(:hover) { background: none }
.launcher { position: relative; display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font-size: 1.625rem; cursor: pointer; box-shadow: 0 6px 20px -4px #0006 }
.badge::after { content: attr(data-count) }
.badge { position: absolute; inset-block-start: -.25rem; inset-inline-end: -.25rem; min-width: 1.375rem; padding: 0 .375rem; border-radius: .75rem; background: var(--bad); color: var(--ground); font: 620 .8125rem/1.375rem system-ui, sans-serif }
*, ::before, ::after { box-sizing: border-box }
.chat { display: flex; flex-direction: column; flex: 1; min-height: 0; color: var(--text); background: var(--ground) }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 1.25rem 1rem .5rem; scroll-padding-block: .5rem 1rem }
.log, .foot { scrollbar-gutter: stable both-edges; scrollbar-width: thin; scrollbar-color: var(--edge) transparent }
.foot { overflow: hidden; padding: 2px 1rem 0 }
:is(.log, .in-view) + .foot { position: relative; box-shadow: 0 -.5rem .75rem var(--ground); clip-path: inset(-1rem 0 0) }
.log:focus-visible { outline-offset: -2px }
.log > * { max-width: 44rem; margin-inline: auto }
.welcome { display: flex; flex-direction: column; align-items: center; gap: .625rem; margin-block: 18% 0; text-align: center }
.welcome p { margin: 0 0 .5rem; font-size: 1.375rem; font-weight: 620; text-wrap: balance }
.welcome button { max-width: 100%; min-height: 2.75rem; padding: .5rem 1.125rem; border: 1px solid color-mix(in srgb, var(--edge) 50%, transparent); border-radius: var(--outer); background: var(--ground); color: var(--text); font: inherit; cursor: pointer }
.welcome button:hover { background: var(--raised) }
`;

/** Messages and tool calls. Words in tables do not break: wide tables scroll. */
const messages = `
.message { margin-block: 0 1.25rem; overflow-wrap: anywhere }
.message.user { display: flex; justify-content: flex-end }
.bubble { margin: 0; max-width: 85%; padding: .5rem .875rem; border-radius: var(--outer); border-end-end-radius: .25rem; background: var(--raised); white-space: pre-wrap }
.bubble img { display: block; max-width: 100%; max-height: 20rem; margin-block: .25rem; border-radius: var(--inner) }
.markdown > :first-child { margin-block-start: 0 }
.markdown > :last-child { margin-block-end: 0 }
.markdown { margin-block: .75rem }
.markdown li > p { margin-block: .25rem }
.markdown ul, .markdown ol { margin-block: .5rem; padding-inline-start: 1.5rem }
.markdown pre, dd pre { overflow-x: auto; padding: .75rem; border-radius: var(--inner); background: var(--raised); font-size: .875rem }
.markdown code { font-family: ui-monospace, monospace; font-size: .9em }
.markdown :not(pre) > code { padding: .125em .375em; border-radius: .375em; background: var(--raised) }
.markdown :is(h3, h4, h5, h6) { margin-block: 1.25rem .5rem; font-size: 1rem; font-weight: 620; line-height: 1.4 }
.markdown h3 { font-size: 1.1875rem }
.markdown h4 { font-size: 1.0625rem }
.markdown blockquote { margin: .75rem 0; padding-inline-start: .875rem; border-inline-start: 3px solid var(--line); color: var(--quiet) }
.markdown hr { margin-block: 1.25rem; border: 0; border-block-start: 1px solid var(--line) }
.markdown .table { margin-block: .75rem; overflow-x: auto; border: 1px solid var(--line); border-radius: var(--inner) }
.markdown table { width: max-content; min-width: 100%; border-collapse: collapse; overflow-wrap: normal; font-size: .9375rem }
.markdown th, .markdown td { max-width: 16rem; padding: .5rem .75rem; text-align: start; vertical-align: top }
.markdown th { background: var(--raised); font-weight: 600; white-space: nowrap }
.markdown tbody tr { border-block-start: 1px solid var(--line) }
.markdown a { color: var(--accent); text-underline-offset: .15em }
.icon { width: 1.125em; height: 1.125em; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; vertical-align: -.2em }
.icon-stop { width: 1.375em; height: 1.375em; fill: currentColor; stroke: none }
.icon-spinner { animation: turn 1s linear infinite }
.tool { margin-block: .375rem; color: var(--quiet); font-size: .9375rem }
.tool summary { display: inline-flex; align-items: center; gap: .5rem; padding: .1875rem .5rem; margin-inline-start: -.5rem; border-radius: .5rem; cursor: pointer; list-style: none }
.tool summary::-webkit-details-marker { display: none }
.tool summary::after { content: ""; width: .375rem; height: .375rem; margin-block-end: .1875rem; border: solid; border-width: 0 1.5px 1.5px 0; rotate: 45deg }
.tool[open] summary::after { margin-block: .1875rem 0; rotate: 225deg }
.tool summary:hover { background: var(--raised) }
.tool.done .icon-tick { color: var(--good) }
.tool.failed .icon-cross { color: var(--bad) }
.tool dl { margin: .375rem 0 .75rem; padding-inline-start: .875rem; border-inline-start: 2px solid var(--line) }
.tool dt { font-size: .8125rem }
.tool dd { margin: .125rem 0 .5rem }
.tool pre { margin: 0; max-height: 16rem; white-space: pre-wrap; overflow: auto }
`;

/** Questions, their fields and outcomes. `match-parent` keeps text of the other direction at the edge of the card. */
const questions = `
.card { margin-block: .75rem; padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); box-shadow: 0 1px 2px #0001, 0 6px 20px -8px #0003; animation: arrive .2s ease-out }
:is(.card, .dock) [dir=auto]:not(input, textarea) { text-align: -webkit-match-parent; text-align: match-parent }
.card header { display: flex; gap: .75rem }
.card .mark { display: grid; place-items: center; width: 2.5rem; height: 2.5rem; flex: none; border-radius: var(--inner); background: var(--raised); color: var(--text); font-weight: 620 }
.card .who { flex: 1; min-width: 0; display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; column-gap: .75rem }
.card .who > :last-child { flex: 1 0 100% }
.card .who .title { color: var(--text); font-size: 1rem; font-weight: 620; line-height: 1.4 }
.card .who p { margin: 0; overflow-wrap: anywhere; color: var(--quiet); font-size: .875rem; line-height: 1.4 }
.card .dismiss { align-self: start; display: grid; place-items: center; width: 2rem; height: 2rem; flex: none; margin: -.375rem 0 0 -.25rem; border: 0; border-radius: 50%; background: none; color: var(--quiet); font: inherit; cursor: pointer }
.card .dismiss:hover { background: var(--raised); color: var(--text) }
.countdown { color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums }
.countdown[data-soon=true] { color: var(--warn); font-weight: 600 }
.card .message { margin: .75rem 0 }
.address { margin: .75rem 0; padding: .5rem .75rem; border-radius: var(--inner); background: var(--raised); color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere; max-height: 10rem; overflow-y: auto }
.address strong { color: var(--text); font-weight: 620 }
.warning { display: flex; gap: .5rem; margin: .75rem 0; padding: .5rem .75rem; border-radius: var(--inner); background: color-mix(in srgb, var(--warn) 12%, transparent); color: var(--warn); font-size: .9375rem }
.warning + .warning { margin-block-start: -.375rem }
:is(.settled, .hint, .warning) .icon { margin-block-start: .2em }
.actions { display: flex; flex-wrap: wrap; gap: .625rem; margin-block: 1rem 0 }
.button { display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.75rem; padding: .5rem 1.125rem; border: 1px solid transparent; border-radius: var(--inner); background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
.button:hover { background: color-mix(in srgb, var(--accent) 84%, var(--ground)) }
.button.quiet { background: transparent; border-color: var(--edge); color: var(--text) }
.button.quiet:hover { background: var(--raised) }
.button[aria-disabled=true] { opacity: .6; cursor: default }
.link { min-height: 1.5rem; padding: 0 .25rem; border: 0; border-radius: .25rem; background: none; color: inherit; font: inherit; font-weight: 600; text-decoration: underline; text-underline-offset: .15em; white-space: nowrap; cursor: pointer }
.hint { display: flex; gap: .5rem; margin: .75rem 0 0; color: var(--quiet); font-size: .9375rem }
.hint:empty { display: none }
.problem { margin: .125rem 0; color: var(--bad); font-size: .9375rem }
.failure { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem; padding: .5rem .875rem; border-radius: var(--inner); background: color-mix(in srgb, var(--bad) 9%, transparent); color: var(--bad) }
.failure p { margin: 0; flex: 1 1 14rem }
.settled { display: flex; gap: .5rem; margin-block: .5rem; color: var(--quiet); font-size: .9375rem }
:is(.failure, .settled) .link { margin-inline-start: -.25rem }
.settled.accept .icon { color: var(--good) }
.card.approval { border-color: color-mix(in srgb, var(--accent) 45%, var(--line)) }
.card.approval .mark { background: color-mix(in srgb, var(--accent) 14%, transparent); color: var(--accent) }
.card.approval .mark .icon { width: 1.375rem; height: 1.375rem }
.card.approval .message { font-weight: 560 }
.arguments { margin: .75rem 0 1rem }
.arguments figcaption { margin-block-end: .375rem; color: var(--quiet); font-size: .875rem }
.arguments figcaption code { margin-inline-start: .5rem; color: var(--text); font: .8125rem ui-monospace, monospace }
.arguments pre { margin: 0; padding: .625rem .75rem; max-height: 14rem; overflow: auto; border-radius: var(--inner); background: var(--raised); color: var(--text); font: .8125rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; text-align: start; direction: ltr; unicode-bidi: isolate }
.field.next-time { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem }
.field.next-time select { flex: 1 1 12rem; width: auto; margin: 0 }
.card.approval .actions { align-items: center }
.field { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0 }
.field label:not(.tick), .field legend { display: block; padding: 0; font-weight: 560 }
.field small { color: var(--quiet); font-weight: 400 }
.field .help { margin: .125rem 0; color: var(--quiet); font-size: .875rem }
.field input:not([type=checkbox], [type=radio]), .field select, .field textarea { width: 100%; margin-block-start: .375rem; padding: .5625rem .75rem; border: 1px solid var(--edge); border-radius: var(--inner); background: var(--ground); color: inherit; font: inherit }
.field :is(input:not([type=checkbox], [type=radio]), select, textarea):focus-within { outline: 2px solid var(--outline, var(--focus)); outline-offset: 1px }
.field input[inputmode] { max-width: 10rem }
.field input[type^=date] { max-width: 17rem }
.field textarea { min-height: 5rem; resize: vertical }
.field [aria-invalid=true][aria-invalid=true] { border-color: var(--bad); --outline: var(--bad) }
.tick { display: flex; gap: .625rem; padding-block: .375rem; cursor: pointer }
.tick input { width: 1.125rem; height: 1.125rem; margin: .1875rem 0 0; flex: none; accent-color: var(--accent) }
`;

/** What is below the log. The names in the dock are cut to two lines: the cards show them in full. */
const foot = `
.status p { margin: 0; color: var(--quiet); font-size: .9375rem }
.working { display: flex; align-items: center; gap: .5rem }
.in-view:not(:focus-within) { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; clip-path: inset(50%) }
.in-view:not(:focus-within) > .dock { width: 20rem }
.dock { display: flex; align-items: center; gap: .625rem; max-width: 44rem; margin: 0 auto .5rem; padding: .5rem .875rem; border-radius: var(--inner); background: var(--raised); font-size: .9375rem }
.dock span[dir] { flex: 1; min-width: 0; overflow: hidden; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
.pulse { width: .5rem; height: .5rem; flex: none; border-radius: 50%; background: var(--focus); animation: breathe 1.6s ease-in-out infinite }
.lost { color: var(--warn) }
.lost .pulse { background: var(--warn) }
.composer { display: flex; flex-wrap: wrap; align-items: flex-end; gap: .5rem; max-width: 44rem; margin: 0 auto 1rem; padding: .375rem; border: 1px solid var(--edge); border-radius: var(--outer); background: var(--ground) }
.composer:has(textarea:focus) { outline: 2px solid var(--focus); outline-offset: -1px }
.composer textarea { flex: 1; min-width: 0; max-height: 10rem; padding: .5rem .75rem; border: 0; outline: 0; background: none; color: inherit; font: inherit; resize: none; field-sizing: content }
.composer .images { display: flex; flex: 1 0 100%; flex-wrap: wrap; gap: .5rem; margin: .25rem .25rem 0; padding: 0; list-style: none }
.composer .images li { position: relative }
.composer .images img { display: block; width: 4rem; height: 4rem; border: 1px solid var(--line); border-radius: var(--inner); object-fit: cover }
.composer .images button { position: absolute; inset-block-start: -.375rem; inset-inline-end: -.375rem; display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font-size: .75rem; cursor: pointer }
.composer .problem { flex: 1 0 100%; margin: .25rem .5rem }
.composer ::placeholder { color: var(--quiet); opacity: 1 }
.composer :placeholder-shown { white-space: nowrap }
.round { display: grid; place-items: center; width: 2.5rem; height: 2.5rem; flex: none; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font: inherit; cursor: pointer }
.round.quiet { background: var(--raised); color: var(--text) }
.round.plain { background: none; color: var(--quiet); font-size: 1.25rem }
.round:hover, .launcher:hover { opacity: .85 }
.round:disabled { opacity: 1; background: var(--raised); color: var(--quiet); cursor: default }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
`;

/** Narrow and low places, reduced motion and forced colours. Comes last, to override the rest. */
const circumstances = `
@container (max-width: 448px) {
  .log, .foot { padding-inline: .75rem }
  .card { padding: .875rem }
  .actions .button { flex: 1 1 100% }
}
@container (max-width: 20em) {
  .card .mark { display: none }
  .composer:has(.round.quiet) .plain { display: none }
}
@media (max-height: 448px) { .head, .dock { padding-block: 0 } .dock, .composer { margin-block-end: .25rem } }
@keyframes turn { to { transform: rotate(360deg) } }
@keyframes breathe { 50% { opacity: .45 } }
@keyframes arrive { from { opacity: 0; transform: translateY(.25rem) } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important } }
@media (max-width: 480px) { .panel { position: fixed; inset: 0; width: auto; height: auto; border: 0; border-radius: 0 } }
@media (forced-colors: active) {
  .button, .round, .card, .dock, .bubble, .address, .badge, .launcher, .mark, .warning, .failure { border: 1px solid }
  .button:not(.quiet) { forced-color-adjust: none; background: ButtonText; color: ButtonFace }
  .pulse { forced-color-adjust: none; background: CanvasText }
}
`;

const sheet = frame + messages + questions + foot + circumstances;

/** Pages may have changed what `rem` is, so it is replaced by `--interlude-unit`. Media queries cannot use variables and keep pixels. */
export const style = sheet.replaceAll(/(-?[\d.]+)rem/g, 'calc($1*var(--unit))');
