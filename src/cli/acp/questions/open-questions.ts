/**
 * The questions of one session that are open, and who is asked: the editor, in a dialog; its user, in words, where the
 * editor has no dialog for them; or nobody for now, because the editor failed to ask. Only a person's decision is passed
 * on. Whatever else happens leaves the question open, for any other surface and for the next prompt.
 */
import type { Client } from '../../../client/client.ts';
import { InterludeError } from '../../../client/interlude-error.ts';
import type { Decision } from '../../../client/answer-questions.ts';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import type { Editor } from '../editor.ts';
import { askEditor } from './ask-editor.ts';
import { answerByDefault, inWords, notShown } from './without-dialog.ts';

interface Parts {
  client: Pick<Client, 'answer' | 'openElicitations'>;
  editor: Editor;
  conversationId: string;
  /** Where the service's pages are. */
  service: string;
  say: (words: string) => Promise<void>;
  /** Whether a prompt is being worked on: outside of one, clients close dialogs by themselves. */
  isPrompting: () => boolean;
  /** Something about who is asked has changed. */
  changed: () => void;
}

interface OpenQuestion {
  question: ElicitationRequest;
  toolCallId: string | undefined;
  asked: 'in-dialog' | 'in-words' | 'nobody' | 'answered';
  /** Aborts when it is settled, or nobody is to be asked any more. */
  over: AbortController;
  /** A link that its user has agreed to open. */
  isConsented: boolean;
}

/** How often a form is put again whose content did not fit: a person needs fewer, a program would go on for ever. */
const mostRepeats = 5;

export class OpenQuestions {
  readonly #parts: Parts;
  readonly #open = new Map<string, OpenQuestion>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A question as the feed tells it: opened, or settled. */
  async see(question: ElicitationRequest, toolCallId: string | undefined): Promise<void> {
    const { elicitationId, status } = question;
    const known = this.#open.get(elicitationId);
    if (status !== 'pending') return known && this.#settled(known, status);
    if (known) return;
    const over = new AbortController();
    const open: OpenQuestion = { question, toolCallId, asked: 'in-dialog', over, isConsented: false };
    this.#open.set(elicitationId, open);
    this.#ask(open);
  }

  get isAnyOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Nobody can be asked here: all that are open wait for words, or were not shown. */
  get isStuck(): boolean {
    const open = [...this.#open.values()];
    return open.length > 0 && open.every(({ asked }) => asked === 'in-words' || asked === 'nobody');
  }

  /** The one that the next words of the user answer. */
  get inWords(): ElicitationRequest | undefined {
    return [...this.#open.values()].find(({ asked }) => asked === 'in-words')?.question;
  }

  /** Those that nobody is asked; a person looks at the editor again. */
  askAgain(): void {
    for (const open of this.#open.values()) if (open.asked === 'nobody') this.#ask(open);
  }

  /** Takes all dialogs away. The questions stay as they are. */
  withdraw(): void {
    for (const open of this.#open.values()) {
      open.over.abort();
      open.asked = 'nobody';
    }
  }

  async answer({ elicitationId }: ElicitationRequest, decision: Decision): Promise<Answered> {
    const { client, conversationId } = this.#parts;
    const open = this.#open.get(elicitationId);
    try {
      await client.answer(
        { conversationId, elicitationId, ...decision },
        { patient: true, ...(open && { signal: open.over.signal }) },
      );
      if (open) open.asked = 'answered';
      return { kind: 'answered' };
    } catch (error) {
      if (!(error instanceof InterludeError)) throw error;
      // Somebody else was faster, or it is too late: the feed tells what became of it.
      if (error.status === 409 || error.status === 410) return { kind: 'answered' };
      return { kind: 'misfit', reasons: reasonsOf(error) };
    }
  }

  async #settled({ question, over, isConsented }: OpenQuestion, status: string): Promise<void> {
    this.#open.delete(question.elicitationId);
    over.abort();
    if (isConsented && status === 'accept') await this.#parts.editor.complete(question.elicitationId);
    this.#parts.changed();
  }

  #ask(open: OpenQuestion): void {
    open.asked = 'in-dialog';
    open.over = new AbortController();
    const { signal } = open.over;
    void this.#decide(open, signal)
      .catch(() => this.#giveUp(open, signal))
      .finally(() => this.#parts.changed());
  }

  /** In one dialog after the other, until there is a decision that the service takes. */
  async #decide(open: OpenQuestion, signal: AbortSignal): Promise<void> {
    const { editor, conversationId: sessionId, isPrompting } = this.#parts;
    const { question, toolCallId } = open;
    if (!(await this.#isStillOpen(question, signal))) return;
    let misfit: string | undefined;
    for (let repeat = 0; repeat <= mostRepeats && !signal.aborted; repeat += 1) {
      const asked = await askEditor(question, {
        editor,
        place: { sessionId, toolCallId },
        misfit,
        isPrompting,
        signal,
      });
      if (asked.kind === 'no-mode') return this.#withoutDialog(open);
      if (asked.kind === 'none') return this.#giveUp(open, signal);
      open.isConsented ||= question.mode === 'url' && asked.decision.action === 'accept';
      const answered = await this.answer(question, asked.decision);
      if (answered.kind === 'answered') return;
      misfit = answered.reasons;
    }
    await this.#giveUp(open, signal);
  }

  /** What is read again from the feed may have been settled since. */
  async #isStillOpen({ elicitationId }: ElicitationRequest, signal: AbortSignal): Promise<boolean> {
    const { client, conversationId } = this.#parts;
    const open = await client.openElicitations(conversationId, { signal, patient: true });
    return open.some((one) => one.elicitationId === elicitationId);
  }

  async #withoutDialog(open: OpenQuestion): Promise<void> {
    const { question } = open;
    const { say, service } = this.#parts;
    const byDefault = answerByDefault(question);
    if (byDefault) {
      await say(byDefault.words);
      const answered = await this.answer(question, byDefault.decision);
      if (answered.kind === 'answered') return;
    }
    const shown = inWords(question, service);
    open.asked = shown.isAnswerable ? 'in-words' : 'nobody';
    await say(shown.words);
  }

  async #giveUp(open: OpenQuestion, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    open.asked = 'nobody';
    // Outside of a prompt, nobody looks on; it is asked again in the next one.
    if (this.#parts.isPrompting()) await this.#parts.say(notShown(open.question, this.#parts.service));
  }
}

export type Answered =
  | { kind: 'answered' }
  /** `reasons`: for the person. */
  | { kind: 'misfit'; reasons: string };

function reasonsOf({ detail, errors }: InterludeError): string {
  const lines = errors.map((error) => `${fieldOf(error.pointer)}: ${error.detail}`);
  return lines.length > 0 ? lines.join('\n') : detail;
}

/** `/content/city` → `city`. */
function fieldOf(pointer: string): string {
  const name = pointer.split('/').slice(2).join('/');
  return name.replaceAll('~1', '/').replaceAll('~0', '~') || 'The answer';
}
