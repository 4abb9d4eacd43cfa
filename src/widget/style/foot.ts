/** What is below the conversation. Of the names of those who wait, as much is shown as fits: the questions have them whole. */
export const foot = `
.status p { margin: 0; color: var(--quiet); font-size: .9375rem }
.working { display: flex; align-items: center; gap: .5rem }
.dock { display: flex; align-items: center; gap: .625rem; max-width: 44rem; margin: 0 auto .5rem; padding: .5rem .875rem; border-radius: var(--inner); background: var(--raised); font-size: .9375rem }
.dock span[dir] { flex: 1; min-width: 0; overflow: hidden; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
.pulse { width: .5rem; height: .5rem; flex: none; border-radius: 50%; background: var(--focus); animation: breathe 1.6s ease-in-out infinite }
.lost { color: var(--warn) }
.lost .pulse { background: var(--warn) }
.composer { display: flex; align-items: flex-end; gap: .5rem; max-width: 44rem; margin: 0 auto 1rem; padding: .375rem; border: 1px solid var(--edge); border-radius: var(--outer); background: var(--ground) }
.composer:has(textarea:focus) { outline: 2px solid var(--focus); outline-offset: -1px }
.composer textarea { flex: 1; min-width: 0; max-height: 10rem; padding: .5rem .75rem; border: 0; outline: 0; background: none; color: inherit; font: inherit; resize: none; field-sizing: content }
.composer ::placeholder { color: var(--quiet); opacity: 1 }
.composer :placeholder-shown { white-space: nowrap }
.round { display: grid; place-items: center; width: 2.5rem; height: 2.5rem; flex: none; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); font: inherit; cursor: pointer }
.round.quiet { background: var(--raised); color: var(--text) }
.round:hover, .launcher:hover { opacity: .85 }
.round:disabled { opacity: 1; background: var(--raised); color: var(--quiet); cursor: default }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
`;
