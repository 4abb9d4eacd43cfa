/**
 * Questions, their fields, and what became of them. The time that is left stands beside the title where both fit, else
 * below it; what is written the other way round still begins where the card does.
 */
export const questions = `
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
