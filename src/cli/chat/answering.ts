/**
 * Answering the questions of a turn, one after the other: shows the one whose turn it is, takes what is typed for it,
 * and sends the answer. A form keeps what was filled in until the service has taken it.
 */
import { InterludeError } from '../../client/interlude-error.ts';
import type { FieldError } from '../../client/interlude-error.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import { isApproval } from '../../elicitation/approval.ts';
import type { ElicitationResponse } from '../../elicitation/elicitation.ts';
import { readRequestedSchema } from '../../elicitation/form/requested-schema.ts';
import type { Answers, FormDrafts } from './form-drafts.ts';
import { beginForm, correct, enterLine, resumeForm } from './form-entry.ts';
import type { FormEntry } from './form-entry.ts';
import { fieldCount, problemLine, stepLines, stepPrompt, takenLine } from './form-wording.ts';
import type { TurnPrinter } from './turn-printer.ts';
import { askedBy, questionCard } from './question-card.ts';
import type { Asking } from './question-card.ts';
import type { Screen } from './screen.ts';
import { dim, promptLabel, timeLeft } from './wording.ts';

/** From then on, people are told how long they still have for a form. */
const shortMs = 120_000;

export interface Answering {
  /** What is to be answered now; undefined when nothing is, or the answer is on its way. */
  asked(): Asking['kind'] | undefined;
  answer(response: ElicitationResponse): void;
  /** One line of the form that is being filled in. */
  enter(line: string): void;
  /** Shows what there is to answer now, once; and notices when a form is no longer asked for. */
  present(): void;
  /** The bottom line, while something is to be answered. */
  prompt(): string | undefined;
}

interface Parts {
  printer: TurnPrinter;
  screen: Screen;
  isInteractive: boolean;
  drafts: FormDrafts;
  /** False the first time in a conversation. */
  knowsForms(): boolean;
  send(elicitationId: string, response: ElicitationResponse): Promise<unknown>;
  sayTrouble(error: unknown): void;
  /** An answer came back: there is something to answer again. */
  reopened(): void;
}

interface Current {
  question: ElicitationRequest;
  asking: Asking;
  form: FormEntry | undefined;
}

export function createAnswering(parts: Parts): Answering {
  const { printer, screen, isInteractive, drafts } = parts;
  let current: Current | undefined;

  const isOpen = () => {
    const pending = printer.pendingQuestion()?.elicitationId;
    return (
      pending !== undefined && pending === current?.question.elicitationId && !printer.isAnswered(pending)
    );
  };

  function present(): void {
    const question = printer.pendingQuestion();
    if (current?.question.elicitationId === question?.elicitationId) return;
    // Half an answer must not become a message.
    if (current?.form && !printer.isAnswered(current.question.elicitationId)) screen.discard();
    if (current?.form && isOver(current.question)) drafts.forget(current.question.elicitationId);
    const kept = question && drafts.read(question);
    current = question && begin(question, kept);
    if (!question || !current) return;
    const { asking, form } = current;
    screen.gap();
    const knowsForms = form !== undefined && parts.knowsForms();
    for (const line of questionCard(question, { asking, isInteractive, knowsForms })) screen.line(line);
    screen.gap();
    if (kept?.size) screen.line(dim('  What you had filled in is there again; /back goes through it.'));
    if (form) showStep(form);
  }

  const isOver = ({ elicitationId }: ElicitationRequest) =>
    printer.pendingQuestion()?.elicitationId !== elicitationId;

  function showStep(form: FormEntry): void {
    if (form.at.kind === 'review' && form.fields.length > 1) screen.gap();
    for (const line of stepLines(form)) screen.line(line);
  }

  function enter(line: string): void {
    const form = isOpen() ? current?.form : undefined;
    if (!form || !current) return;
    const step = enterLine(form, line);
    switch (step.kind) {
      case 'wrong':
        return screen.line(problemLine(step.why));
      case 'send':
        return answer({ action: 'accept', content: step.content });
      case 'answered': {
        const taken = takenLine(step.field, step.value, line);
        if (taken !== undefined) screen.line(taken);
        return goTo(step.entry);
      }
      case 'moved':
        return goTo(step.entry);
      default:
        return step satisfies never;
    }
  }

  function goTo(form: FormEntry): void {
    if (current) {
      current = { ...current, form };
      drafts.keep(current.question, form.answers);
    }
    showStep(form);
  }

  function answer(response: ElicitationResponse): void {
    const question = isOpen() ? current?.question : undefined;
    if (!question) return screen.line(dim('  No question is open.'));
    const { elicitationId } = question;
    printer.setAnswered(elicitationId, true);
    const taken = () => drafts.forget(elicitationId);
    parts.send(elicitationId, response).then(taken, (error: unknown) => {
      printer.setAnswered(elicitationId, false);
      if (!isOpen() || !takeBack(error)) parts.sayTrouble(error);
      parts.reopened();
    });
  }

  /** The service does not take it as it is: the fields it names are asked again. */
  function takeBack(error: unknown): boolean {
    if (!current?.form || !(error instanceof InterludeError) || error.status !== 422) return false;
    const problems = new Map(error.errors.flatMap(problemOf));
    const form = correct(current.form, problems);
    if (form === current.form) return false;
    goTo(form);
    return true;
  }

  return {
    asked: () => (isOpen() ? current?.asking.kind : undefined),
    answer,
    enter,
    present,
    prompt() {
      if (!isOpen() || !current) return undefined;
      const { question, form } = current;
      const left = timeLeft(question.expiresAt, Date.now());
      if (!form) return promptLabel(`${askedBy(question)} · ${left}`);
      // The prompts of a form stay on the screen, so the clock is only in those that need it.
      const isShort = Date.parse(question.expiresAt) - Date.now() < shortMs;
      return `${isShort ? `${dim(left)} ` : ''}${promptLabel(stepPrompt(form))}`;
    },
  };
}

function begin(question: ElicitationRequest, kept: Answers = new Map()): Current {
  if (question.mode === 'url') {
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

/** `/content/extras/1` is about the field `extras`. */
function problemOf({ pointer, detail }: FieldError): [string, string][] {
  const [, member, name] = pointer.split('/');
  if (member !== 'content' || name === undefined) return [];
  return [[name.replaceAll('~1', '/').replaceAll('~0', '~'), detail]];
}
