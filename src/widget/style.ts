/** The widget's own sheet. Hosts set `--interlude-accent`, `--interlude-font`, `--interlude-radius` and the like on the element. */
export const style = `
:host {
  display: block; height: 100%; min-height: 20rem; container-type: inline-size;
  --accent: var(--interlude-accent, light-dark(#1c1d1f, #f1f1ef));
  --on-accent: var(--interlude-on-accent, light-dark(#fff, #17181a));
  --focus: var(--interlude-focus, light-dark(#3056d3, #93aaff));
  --text: var(--interlude-text, light-dark(#1c1d1f, #eeeeec));
  --quiet: var(--interlude-quiet, light-dark(#63666b, #a0a3a9));
  --ground: var(--interlude-ground, light-dark(#fff, #1b1d20));
  --raised: var(--interlude-raised, light-dark(#f4f4f1, #272a2e));
  --line: light-dark(#e4e4df, #303338);
  --edge: light-dark(#8b8d90, #73777e);
  --good: light-dark(#1d7a4c, #6fd19c);
  --warn: light-dark(#8a5300, #f2c274);
  --bad: light-dark(#b3261e, #ff9c94);
  --radius: var(--interlude-radius, .875rem);
  color-scheme: light dark;
  font: var(--interlude-font, 400 1rem/1.5 system-ui, sans-serif);
}
:host([theme=light]) { color-scheme: light }
:host([theme=dark]) { color-scheme: dark }
:host([hidden]), [hidden] { display: none !important }
:host([floating]) { position: fixed; z-index: 2147483000; inset-block-end: 1rem; inset-inline-end: 1rem; width: auto; height: auto; min-height: 0; container-type: normal }
.panel { position: relative; width: min(26rem, 100vw - 2rem); height: min(42rem, 100dvh - 2rem); overflow: hidden; border: 1px solid var(--line); border-radius: 1.125rem; background: var(--ground); box-shadow: 0 12px 40px -8px #0006; container-type: inline-size }
.panel .log { padding-block-start: 3.25rem }
.close { position: absolute; z-index: 1; inset-block-start: .5rem; inset-inline-end: .75rem }
.launcher { position: relative; display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font-size: 1.375rem; cursor: pointer; box-shadow: 0 6px 20px -4px #0006 }
.badge { position: absolute; inset-block-start: -.25rem; inset-inline-end: -.25rem; min-width: 1.375rem; padding: 0 .375rem; border-radius: .75rem; background: var(--bad); color: var(--ground); font: 650 .8125rem/1.375rem system-ui, sans-serif }
*, ::before, ::after { box-sizing: border-box }
.chat { display: flex; flex-direction: column; height: 100%; color: var(--text); background: var(--ground) }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 1.25rem 1rem .5rem; scrollbar-gutter: stable }
.log > * { max-width: 44rem; margin-inline: auto }
.welcome { display: flex; flex-direction: column; align-items: center; gap: .625rem; margin-block: 18% 0; text-align: center }
.welcome p { margin: 0 0 .5rem; font-size: 1.375rem; font-weight: 620; text-wrap: balance }
.welcome button { max-width: 100%; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: 1.25rem; background: var(--ground); color: var(--text); font: inherit; cursor: pointer }
.welcome button:hover { background: var(--raised) }
.message { margin-block: 0 1.25rem; overflow-wrap: anywhere }
.message.user { display: flex; justify-content: flex-end }
.bubble { margin: 0; max-width: 85%; padding: .5rem .875rem; border-radius: 1.125rem; border-end-end-radius: .25rem; background: var(--raised); white-space: pre-wrap }
.markdown > :first-child { margin-block-start: 0 }
.markdown > :last-child { margin-block-end: 0 }
.markdown { margin-block: .5rem }
.markdown li > p { margin-block: .25rem }
.markdown ul, .markdown ol { margin-block: .5rem; padding-inline-start: 1.5rem }
.markdown pre, dd pre { overflow-x: auto; padding: .75rem; border-radius: .625rem; background: var(--raised); font-size: .875rem }
.markdown code { font-family: ui-monospace, monospace; font-size: .9em }
.markdown .table { overflow-x: auto }
.markdown table { border-collapse: collapse }
.markdown th, .markdown td { padding: .25rem .75rem; border: 1px solid var(--line); text-align: start }
.markdown a { color: var(--accent) }
.icon { width: 1.125em; height: 1.125em; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; vertical-align: -.2em }
.icon.stop { fill: currentColor; stroke: none }
.icon.spinner { animation: turn 1s linear infinite }
.tool { margin-block: .375rem; color: var(--quiet); font-size: .9375rem }
.tool summary { display: inline-flex; align-items: center; gap: .5rem; padding: .1875rem .5rem; margin-inline-start: -.5rem; border-radius: .5rem; cursor: pointer; list-style: none }
.tool summary::-webkit-details-marker { display: none }
.tool summary:hover { background: var(--raised) }
.tool.done .icon.tick { color: var(--good) }
.tool.failed .icon.cross { color: var(--bad) }
.tool dl { margin: .375rem 0 .75rem; padding-inline-start: .875rem; border-inline-start: 2px solid var(--line) }
.tool dt { font-size: .8125rem }
.tool dd { margin: .125rem 0 .5rem }
.tool pre { margin: 0; max-height: 16rem; white-space: pre-wrap; overflow: auto }
.card { margin-block: .75rem; padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--ground); box-shadow: 0 1px 2px #0001, 0 6px 20px -8px #0003; animation: arrive .2s ease-out }
.card:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
.card header { display: flex; align-items: center; gap: .75rem }
.card .mark { display: grid; place-items: center; width: 2.5rem; height: 2.5rem; flex: none; border-radius: .6875rem; background: var(--raised); color: var(--text); font-weight: 650 }
.card .who { flex: 1; min-width: 0 }
.card .who .title { color: var(--text); font-size: 1rem; font-weight: 620; line-height: 1.35 }
.card .who p { margin: 0; overflow-wrap: anywhere; color: var(--quiet); font-size: .875rem; line-height: 1.4 }
.countdown { align-self: start; color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; white-space: nowrap }
.countdown[data-soon=true] { color: var(--warn); font-weight: 600 }
.card .message, .card > p.message { margin: .75rem 0 }
.address { margin: .75rem 0; padding: .5rem .75rem; border-radius: .625rem; background: var(--raised); color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere }
.address strong { color: var(--text); font-weight: 650 }
.warning { display: flex; gap: .5rem; margin: .75rem 0; padding: .5rem .75rem; border-radius: .625rem; background: color-mix(in srgb, var(--warn) 12%, transparent); color: var(--warn); font-size: .9375rem }
.warning .icon { margin-block-start: .125rem }
.actions { display: flex; flex-wrap: wrap; gap: .625rem; margin-block: 1rem 0 }
.button { display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.75rem; padding: .5rem 1.125rem; border: 1px solid transparent; border-radius: .6875rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
.button:hover { background: color-mix(in srgb, var(--accent) 84%, var(--ground)) }
.button.quiet { background: transparent; border-color: var(--edge); color: var(--text) }
.button.quiet:hover { background: var(--raised) }
.button:disabled { opacity: .6; cursor: default }
.link { min-height: 1.5rem; padding: 0 .25rem; border: 0; border-radius: .25rem; background: none; color: inherit; font: inherit; font-weight: 600; text-decoration: underline; text-underline-offset: .15em; cursor: pointer }
.hint { margin: .75rem 0 0; color: var(--quiet); font-size: .9375rem }
.hint:empty { display: none }
.problem { margin: .25rem 0; color: var(--bad); font-size: .9375rem }
.failure { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem; padding: .625rem .875rem; border-radius: .75rem; background: color-mix(in srgb, var(--bad) 9%, transparent); color: var(--bad) }
.failure p { margin: 0; flex: 1 1 14rem }
.settled { display: flex; align-items: center; gap: .5rem; margin-block: .5rem; color: var(--quiet); font-size: .9375rem }
.settled.accept .icon { color: var(--good) }
.field { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0 }
.field label:not(.tick), .field legend { display: block; padding: 0; font-weight: 560 }
.field small { color: var(--quiet); font-weight: 400 }
.field .help { margin: .125rem 0; color: var(--quiet); font-size: .875rem }
.field input:not([type=checkbox], [type=radio]), .field select, .field textarea { width: 100%; margin-block-start: .375rem; padding: .5625rem .75rem; border: 1px solid var(--edge); border-radius: .625rem; background: var(--ground); color: inherit; font: inherit }
.field textarea { min-height: 5rem; resize: vertical }
.field [aria-invalid=true] { border-color: var(--bad); outline-color: var(--bad) }
.tick { display: flex; align-items: center; gap: .625rem; min-height: 2.25rem; cursor: pointer }
.tick input { width: 1.125rem; height: 1.125rem; margin: 0; flex: none; accent-color: var(--accent) }
.status p { margin: 0; color: var(--quiet); font-size: .9375rem }
.working { display: flex; align-items: center; gap: .5rem }
.dock { display: flex; align-items: center; gap: .625rem; width: min(100% - 2rem, 44rem); margin: 0 auto .5rem; padding: .5rem .875rem; border-radius: .75rem; background: var(--raised); font-size: .9375rem }
.dock span[dir] { flex: 1; min-width: 0; overflow-wrap: anywhere }
.pulse { width: .5rem; height: .5rem; flex: none; border-radius: 50%; background: var(--focus); animation: breathe 1.6s ease-in-out infinite }
.composer { display: flex; align-items: flex-end; gap: .5rem; width: min(100% - 2rem, 44rem); margin: 0 auto 1rem; padding: .375rem; border: 1px solid var(--edge); border-radius: 1.375rem; background: var(--ground) }
.composer:focus-within { border-color: var(--focus); box-shadow: 0 0 0 1px var(--focus) }
.composer textarea { flex: 1; min-width: 0; max-height: 10rem; padding: .5rem .75rem; border: 0; outline: 0; background: none; color: inherit; font: inherit; resize: none; field-sizing: content }
.composer ::placeholder { color: var(--quiet); opacity: 1 }
.round { display: grid; place-items: center; width: 2.5rem; height: 2.5rem; flex: none; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font: inherit; cursor: pointer }
.round.quiet { background: var(--raised); color: var(--text) }
.round:disabled { background: var(--raised); color: var(--quiet); cursor: default }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
@container (max-width: 28rem) {
  .card { padding: .875rem }
  .card header { flex-wrap: wrap }
  .actions .button { flex: 1 1 100% }
}
@keyframes turn { to { transform: rotate(360deg) } }
@keyframes breathe { 50% { opacity: .45 } }
@keyframes arrive { from { opacity: 0; transform: translateY(.25rem) } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important } }
@media (forced-colors: active) { .button, .round, .card, .dock { border: 1px solid } }
`;
