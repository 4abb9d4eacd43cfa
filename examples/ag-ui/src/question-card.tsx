/** A card for each kind of question: an account, a link, an approval, a form. */
import { useContext, useEffect } from 'react';
import type { ReactNode } from 'react';
import { ApprovalForm } from './approval-form.tsx';
import { askerOf, isSafeToOpen, questionOf } from './interlude.ts';
import type { Answer, Interrupt } from './interlude.ts';
import { QuestionForm } from './question-form.tsx';
import type { FormSchema } from './question-form.tsx';
import { TimeLeft, useTimeLeft } from './time-left.tsx';
import { RunContext } from './use-run.ts';

interface Props {
  interrupt: Interrupt;
  isAnswered: boolean;
  onAnswer(answer: Answer): void;
  onExpired(): void;
}

export function QuestionCard({ interrupt, isAnswered, onAnswer, onExpired }: Props) {
  const { message, responseSchema } = interrupt;
  const { given } = useContext(RunContext);
  const { context, errors, mode, url = '' } = questionOf(interrupt);
  const asker = askerOf(interrupt);
  const left = useTimeLeft(interrupt);
  // A second later than the service.
  const isExpired = left < -1_000;
  useEffect(() => {
    if (isExpired) onExpired();
  }, [isExpired]);
  const resolve = (payload?: unknown) => onAnswer({ status: 'resolved', payload });
  const isApproval = context.trigger === 'approval';

  const others = (
    <>
      {!isApproval && (
        <button type="button" onClick={() => resolve({ action: 'decline' })}>
          Not now
        </button>
      )}
      <button type="button" onClick={() => onAnswer({ status: 'cancelled' })}>
        Dismiss
      </button>
    </>
  );

  return (
    <section
      className="card"
      role="group"
      aria-label={`Question from ${asker}`}
      inert={isAnswered || isExpired}
    >
      <header>
        <strong>{asker}</strong>
        {context.host && <small>{context.host}</small>}
        <TimeLeft left={left} />
      </header>
      <p>{message}</p>
      {errors && <p role="alert">{errors}</p>}
      {isApproval ? (
        <ApprovalForm call={context} onAnswer={resolve} others={others} />
      ) : mode === 'url' ? (
        <Link url={url} interrupt={interrupt} onOpen={() => resolve()} others={others} />
      ) : (
        <QuestionForm
          schema={responseSchema as FormSchema}
          filled={given.get(interrupt.id)?.answer.payload as object | undefined}
          onFilled={resolve}
          others={others}
        />
      )}
      {isExpired ? (
        <small>The time to answer is over.</small>
      ) : (
        isAnswered && <small>Answered; sent together with the other answers.</small>
      )}
    </section>
  );
}

interface LinkProps {
  url: string;
  interrupt: Interrupt;
  onOpen(): void;
  others: ReactNode;
}

/** To open a page is to agree to it; what is done there is noticed by itself. */
function Link({ url, interrupt, onOpen, others }: LinkProps) {
  const isAccount = interrupt.reason === 'credential_required';
  const { serverTitle = 'the account' } = questionOf(interrupt).context;
  return (
    <>
      {!isAccount && <p className="address">{url}</p>}
      <div className="buttons">
        {isSafeToOpen(url) && (
          <a className="primary" href={url} target="_blank" rel="noopener noreferrer" onClick={onOpen}>
            {isAccount ? `Connect ${serverTitle}` : 'Open the page'}
          </a>
        )}
        {others}
      </div>
    </>
  );
}

export function OpenedLink({ interrupt }: { interrupt: Interrupt }) {
  const { url = '', context } = questionOf(interrupt);
  const left = useTimeLeft(interrupt);
  return (
    <section className="card" role="group" aria-label={`Waiting for ${context.serverTitle ?? 'a page'}`}>
      <p>
        Finish in the other window; the answer then goes on here.{' '}
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open it again
        </a>
      </p>
      <TimeLeft left={left} />
    </section>
  );
}
