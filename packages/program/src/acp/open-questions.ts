/**
 * The open questions of one session. Each is put to the editor (in a dialog), to its user (as text, if the editor has no dialog
 * for it), or to no one while the editor fails to ask. Only a person's decision is passed on; in every other case the question
 * stays open for other surfaces and for the next prompt.
 */
import type { Decision } from '@interlude-ai/client/answer-questions.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { answerAddress, connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { defaultsOf, fieldsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { secretField } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { fieldsAsText } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { askEditor, wordsOf } from './ask-editor.ts';
import type { Editor } from './editor.ts';

interface Parts {
  client: Client;
  editor: Editor;
  conversationId: string;
  /** Where the service's pages are. */
  service: string;
  say: (words: string) => Promise<void>;
  /** Whether a prompt is being worked on: outside of one, clients close dialogs by themselves. */
  isPrompting: () => boolean;
  /** Some question changed its state. */
  changed: () => void;
}

interface OpenQuestion {
  question: ElicitationRequest;
  toolCallId: string | undefined;
  asked: 'in-dialog' | 'in-words' | 'unasked' | 'answered';
  /** Aborts when it is settled or withdrawn. */
  over: AbortController;
  /** The user has agreed to open the link. */
  isConsented: boolean;
}

/** How often a form with unfit content is asked again: enough for a person, and an end for a program. */
const mostRepeats = 5;

export class OpenQuestions {
  readonly #parts: Parts;
  readonly #open = new Map<string, OpenQuestion>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A question from the feed: opened or settled. */
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

  /** All open questions wait for words, or were not shown. */
  get isStuck(): boolean {
    const open = [...this.#open.values()];
    return open.length > 0 && open.every(({ asked }) => asked === 'in-words' || asked === 'unasked');
  }

  /** The question that the user's next message answers. */
  get inWords(): ElicitationRequest | undefined {
    return [...this.#open.values()].find(({ asked }) => asked === 'in-words')?.question;
  }

  /** Asks the questions again that the editor failed to show. */
  askAgain(): void {
    for (const open of this.#open.values()) if (open.asked === 'unasked') this.#ask(open);
  }

  /** Closes all dialogs. The questions stay open. */
  withdraw(): void {
    for (const open of this.#open.values()) {
      open.over.abort();
      open.asked = 'unasked';
    }
  }

  async answer({ elicitationId }: ElicitationRequest, decision: Decision): Promise<Answered> {
    const { client, conversationId } = this.#parts;
    const open = this.#open.get(elicitationId);
    try {
      await client.answer(
        { conversationId, elicitationId, ...decision },
        { retryForever: true, ...(open && { signal: open.over.signal }) },
      );
      if (open) open.asked = 'answered';
      return { kind: 'answered' };
    } catch (error) {
      if (!(error instanceof InterludeError)) throw error;
      // Settled elsewhere, or too late: the feed says how.
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

  /** One dialog after the other, until the service takes a decision. */
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

  /** A question that is read again from the feed may be settled by now. */
  async #isStillOpen({ elicitationId }: ElicitationRequest, signal: AbortSignal): Promise<boolean> {
    const { client, conversationId } = this.#parts;
    const open = await client.openElicitations(conversationId, { signal, retryForever: true });
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
    open.asked = shown.isAnswerable ? 'in-words' : 'unasked';
    await say(shown.words);
  }

  async #giveUp(open: OpenQuestion, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    open.asked = 'unasked';
    // Outside of a prompt the user may not be looking; it is asked again in the next one.
    if (this.#parts.isPrompting()) await this.#parts.say(notShown(open.question, this.#parts.service));
  }
}

type Answered =
  | { kind: 'answered' }
  /** `reasons`: for people. */
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

// What the user reads when the editor has no dialog for a question.

/**
 * ACP wants a form with values for all its required fields to proceed with them. Not with a yes or no among them: that
 * may be a consent, which is never given by default.
 */
function answerByDefault(question: ElicitationRequest): { words: string; decision: Decision } | null {
  if (question.mode === 'url') return null;
  const fields = fieldsOf(question.requestedSchema);
  const content = defaultsOf(fields);
  const isWhole = fields.every((field) => !field.isRequired || field.default !== undefined);
  const isHarmless = fields.every(({ kind }) => kind !== 'boolean');
  if (!isWhole || !isHarmless || Object.keys(content).length === 0) return null;
  const taken = fields.flatMap(({ name, title }) =>
    name in content ? [`- ${title}: ${JSON.stringify(content[name])}`] : [],
  );
  const words = [
    wordsOf(question),
    'Your editor cannot show this form, so these values were taken:',
    ...taken,
  ];
  return { words: words.join('\n'), decision: { action: 'accept', content } };
}

interface InWords {
  words: string;
  /** Whether the user's next message is the answer. */
  isAnswerable: boolean;
}

export function inWords(question: ElicitationRequest, service: string): InWords {
  // A link must not be passed on as text, so this names the page where accounts are always connected.
  if (question.mode === 'url')
    return {
      words: `${wordsOf(question)}\n\nYour editor cannot open this. Go to ${connectionsAddress(service)}`,
      isAnswerable: false,
    };
  const fields = fieldsOf(question.requestedSchema);
  if (secretField(fields, question.requestedSchema) !== null)
    return { words: notShown(question, service), isAnswerable: false };
  const how = howToAnswer(fields.length);
  const lines = [wordsOf(question), fieldsAsText(question.requestedSchema).join('\n'), how];
  return { words: lines.filter((line) => line !== '').join('\n\n'), isAnswerable: true };
}

function howToAnswer(fields: number): string {
  if (fields === 0) return 'Answer “yes” or “no” in your next message.';
  if (fields === 1) return 'Answer in your next message, or “no” to decline.';
  return 'Answer in your next message with a JSON object that has these fields, or “no” to decline.';
}

/** The editor failed to show it. */
function notShown(question: ElicitationRequest, service: string): string {
  const where =
    question.mode === 'url' ? connectionsAddress(service) : answerAddress(service, question.elicitationId);
  return `${wordsOf(question)}\n\nYour editor did not show this question. It stays open: answer it at ${where}, or send any message to be asked again.`;
}
