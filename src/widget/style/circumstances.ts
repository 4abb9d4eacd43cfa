/** Narrow and low places, motion, and the colours of the reader's own system. Comes last, so that it counts. */
export const circumstances = `
@container (max-width: 448px) {
  .log, .foot { padding-inline: .75rem }
  .card { padding: .875rem }
  .actions .button { flex: 1 1 100% }
}
@container (max-width: 20em) { .card .mark { display: none } }
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
