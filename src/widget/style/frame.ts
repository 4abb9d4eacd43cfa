/**
 * What the whole stands in: colours, the panel in a corner, and the conversation that scrolls. Inherited text is reset:
 * what the page around does with its own stays there. The log and what stands below it leave room for the scroll bar at
 * both sides, so that they are in line; what goes on below the log's end fades.
 */
export const frame = `
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
.log + .foot { position: relative; box-shadow: 0 -.5rem .75rem var(--ground); clip-path: inset(-1rem 0 0) }
.log:focus-visible { outline-offset: -2px }
.log > * { max-width: 44rem; margin-inline: auto }
.welcome { display: flex; flex-direction: column; align-items: center; gap: .625rem; margin-block: 18% 0; text-align: center }
.welcome p { margin: 0 0 .5rem; font-size: 1.375rem; font-weight: 620; text-wrap: balance }
.welcome button { max-width: 100%; min-height: 2.75rem; padding: .5rem 1.125rem; border: 1px solid color-mix(in srgb, var(--edge) 50%, transparent); border-radius: var(--outer); background: var(--ground); color: var(--text); font: inherit; cursor: pointer }
.welcome button:hover { background: var(--raised) }
`;
