/** Leads to the page on which people connect their accounts, whatever became of a question. */
import type { Words } from './words.ts';

export function ConnectLink({ to, server, words }: { to: string; server: string | undefined; words: Words }) {
  return (
    <a className="link" href={to} target="_blank" rel="noopener noreferrer">
      {words.connect(server ?? words.agent)}
    </a>
  );
}
