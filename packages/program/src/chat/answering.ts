/**
 * Answers the questions of a turn one after the other: shows the current one, reads what is typed, sends the answer. A
 * form keeps its content until the service has accepted it.
 */
import type { Decision } from '@interlude-ai/client/answer-questions.ts';
import { fieldAt, InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { FieldError } from '@interlude-ai/client/interlude-error.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { inspectUrl } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { Decide } from '@interlude-ai/kit/answers/answer-from.ts';
import type { Answers, FormDrafts } from './form-drafts.ts';
import { beginForm, correct, enterLine, resumeForm } from './form-entry.ts';
import type { FormEntry } from './form-entry.ts';
import { fieldCount, problemLine, stepLines, stepPrompt, takenLine } from './form-wording.ts';
import { askedBy, questionCard } from './question-card.ts';
import type { Asking } from './question-card.ts';
import type { Screen } from './screen.ts';
import type { TurnPrinter } from './turn-printer.ts';
import { dim } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { promptLabel, timeLeft } from './wording.ts';

/** From then on the prompt shows the time that is left. */
const shortMs = 120_000;

interface Parts {
  printer: TurnPrinter;
  screen: Screen;
  isInteractive: boolean;
  drafts: FormDrafts;
  /** False the first time in a conversation. */
  knowsForms(): boolean;
  send(elicitationId: string, response: Decision): Promise<unknown>;
  sayTrouble(error: unknown): void;
  /** An answer was refused: the question is open again. */
  reopened(): void;
  /** Asked first. What it does not answer is put to the person. */
  decide?: Decide | undefined;
}

interface Current {
  question: ElicitationRequest;
  asking: Asking;
  form: FormEntry | undefined;
}

export class Answering {
  readonly #parts: Parts;
  #current: Current | undefined;
  /** Questions that `decide` was asked about. */
  readonly #decided = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The kind of the open question; undefined when there is none, or its answer is on its way. */
  asked(): Asking['kind'] | undefined {
    return this.#openQuestion()?.asking.kind;
  }

  answer(response: ElicitationResponse): void {
    const { printer, screen, drafts } = this.#parts;
    const { elicitationId } = this.#openQuestion()?.question ?? {};
    if (elicitationId === undefined) return screen.line(dim('  No question is open.'));
    printer.setAnswered(elicitationId, true);
    this.#parts.send(elicitationId, response).then(
      () => drafts.forget(elicitationId),
      (error: unknown) => {
        printer.setAnswered(elicitationId, false);
        this.#reopen(error);
      },
    );
  }

  /** One line of the open form. */
  enter(line: string): void {
    const { screen } = this.#parts;
    const form = this.#openQuestion()?.form;
    if (!form) return;
    const step = enterLine(form, line);
    switch (step.kind) {
      case 'wrong':
        return screen.line(problemLine(step.why));
      case 'send':
        return this.answer({ action: 'accept', content: step.content });
      case 'answered': {
        const taken = takenLine(step.field, step.value, line);
        if (taken !== undefined) screen.line(taken);
        return this.#goTo(step.entry);
      }
      case 'moved':
        return this.#goTo(step.entry);
      default:
        return step satisfies never;
    }
  }

  /** Shows a new open question, once; and clears the form of one that is settled. */
  present(): void {
    const { printer, drafts } = this.#parts;
    const question = printer.pendingQuestion();
    const before = this.#current;
    if (before?.question.elicitationId === question?.elicitationId) return;
    if (before?.form) this.#leaveForm(before.question);
    const kept = question && drafts.read(question);
    this.#current = question && begin(question, kept);
    if (question && this.#parts.decide && !this.#decided.has(question.elicitationId))
      void this.#decide(this.#parts.decide, question);
    else if (this.#current) this.#showCard(this.#current, kept);
  }

  /** A source answers in the person's place, or leaves the question to them. */
  async #decide(decide: Decide, question: ElicitationRequest): Promise<void> {
    const { printer, screen, send } = this.#parts;
    const { elicitationId } = question;
    this.#decided.add(elicitationId);
    printer.setAnswered(elicitationId, true);
    try {
      const decided = await decide(question, { signal: new AbortController().signal });
      if (decided.kind === 'decided') {
        await send(elicitationId, decided.decision);
        return screen.line(dim(`  Answered by ${decided.by}: ${decided.decision.action}`));
      }
    } catch (error) {
      this.#parts.sayTrouble(error);
    }
    printer.setAnswered(elicitationId, false);
    this.#current = undefined;
    this.present();
    this.#parts.reopened();
  }

  /** The bottom line while a question is open. */
  prompt(): string | undefined {
    const open = this.#openQuestion();
    if (!open) return undefined;
    const { question, form } = open;
    const left = timeLeft(question.expiresAt, Date.now());
    if (!form) return promptLabel(`${askedBy(question)} · ${left}`);
    // Prompts of a form stay on the screen, so only those that need it show the time.
    const isShort = Date.parse(question.expiresAt) - Date.now() < shortMs;
    return `${isShort ? `${dim(left)} ` : ''}${promptLabel(stepPrompt(form))}`;
  }

  /** The current question, unless it is settled or its answer is on its way. */
  #openQuestion(): Current | undefined {
    const { printer } = this.#parts;
    const pending = printer.pendingQuestion()?.elicitationId;
    if (pending === undefined || pending !== this.#current?.question.elicitationId) return undefined;
    return printer.isAnswered(pending) ? undefined : this.#current;
  }

  #leaveForm({ elicitationId }: ElicitationRequest): void {
    const { printer, screen, drafts } = this.#parts;
    // Half an answer must not become a message.
    if (!printer.isAnswered(elicitationId)) screen.discard();
    drafts.forget(elicitationId);
  }

  #showCard({ question, asking, form }: Current, kept: Answers | undefined): void {
    const { screen, isInteractive } = this.#parts;
    screen.gap();
    const knowsForms = form !== undefined && this.#parts.knowsForms();
    for (const line of questionCard(question, { asking, isInteractive, knowsForms })) screen.line(line);
    screen.gap();
    if (kept?.size) screen.line(dim('  What you had filled in is there again; /back goes through it.'));
    if (form) this.#showStep(form);
  }

  #showStep(form: FormEntry): void {
    const { screen } = this.#parts;
    if (form.at.kind === 'review' && form.fields.length > 1) screen.gap();
    for (const line of stepLines(form)) screen.line(line);
  }

  #goTo(form: FormEntry): void {
    if (this.#current) {
      this.#current = { ...this.#current, form };
      this.#parts.drafts.keep(this.#current.question, form.answers);
    }
    this.#showStep(form);
  }

  /** The answer was refused: the fields that the service names are asked again, or the person is shown why. */
  #reopen(error: unknown): void {
    const form = this.#openQuestion()?.form;
    const corrected = form && correctedBy(error, form);
    if (corrected) this.#goTo(corrected);
    else this.#parts.sayTrouble(error);
    this.#parts.reopened();
  }
}

/** The form at the fields that the service refused; undefined when the error is about something else. */
function correctedBy(error: unknown, form: FormEntry): FormEntry | undefined {
  if (!(error instanceof InterludeError) || error.status !== 422) return undefined;
  const corrected = correct(form, new Map(error.errors.flatMap(problemOf)));
  return corrected === form ? undefined : corrected;
}

function begin(question: ElicitationRequest, kept: Answers = new Map()): Current {
  if (question.mode === 'url') {
    const inspected = inspectUrl(question.url);
    if (inspected.kind === 'refused')
      return { question, asking: { kind: 'unreadable', reason: inspected.reason }, form: undefined };
    const isConnection = question.context.trigger === 'credential_required';
    return { question, asking: { kind: isConnection ? 'connection' : 'page' }, form: undefined };
  }
  if (isApproval(question.context)) return { question, asking: { kind: 'approval' }, form: undefined };
  const read = readRequestedSchema(question.requestedSchema);
  if (read.kind === 'unsupported')
    return { question, asking: { kind: 'unreadable', reason: read.reason }, form: undefined };
  const { fields } = read;
  const form = resumeForm(beginForm(fields), kept);
  return { question, asking: { kind: 'form', fieldCount: fieldCount(fields) }, form };
}

function problemOf({ pointer, detail }: FieldError): [string, string][] {
  const name = fieldAt(pointer);
  return name === undefined ? [] : [[name, detail]];
}
