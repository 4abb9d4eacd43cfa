import type { RefObject } from 'react';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { connectionsBeside } from '@interlude-ai/core/elicitation/account-pages.ts';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';
import { toolName } from './tool-call.tsx';
import type { Answer } from './use-answer.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  question: ElicitationRequest;
  words: Words;
  /** The answer that was given in this widget. */
  given: Pick<Answer, 'isLate' | 'sent'>;
  askAgain: (() => void) | undefined;
  place: RefObject<HTMLParagraphElement | null>;
}

export function SettledQuestion({ question, words, given, askAgain, place }: Props) {
  const [icon, text] = outcome(question, given, words);
  return (
    <p className={`settled ${question.status}`} ref={place} tabIndex={-1}>
      <Icon name={icon} />
      <span dir="auto">
        {text}
        {question.status === 'expired' && askAgain && (
          <>
            {' '}
            <button type="button" className="link" onClick={askAgain}>
              {words.askAgain}
            </button>
          </>
        )}
        {isUnconnected(question) && (
          <>
            {' '}
            <ConnectLink
              to={connectionsBeside(question.url)}
              server={askerTitle(question.context)}
              words={words}
            />
          </>
        )}
      </span>
    </p>
  );
}

/** After a declined or expired question, the account can still be connected. */
function isUnconnected(question: ElicitationRequest): question is Extract<typeof question, { mode: 'url' }> {
  const { mode, status, context } = question;
  const isOver = status === 'decline' || status === 'cancel' || status === 'expired';
  return mode === 'url' && isOver && context.trigger === 'credential_required';
}

function outcome(
  question: ElicitationRequest,
  { isLate, sent }: Props['given'],
  words: Words,
): [IconName, string] {
  const { status, context, because } = question;
  const { trigger } = context;
  const asker = askerTitle(context) ?? words.agent;
  const isApproved = isApproval(context);
  const title = (text: string) => `${asker}: ${text}`;
  const call = context.toolName;
  const withCall = (text: string) => (call === undefined ? text : `${text} · ${toolName(call)}`);
  switch (status) {
    case 'accept':
      if (isApproved) return ['tick', withCall(title(words.approved))];
      if (trigger === 'credential_required') return ['tick', words.connected(asker)];
      // The page reported that it is done. The user only agreed to open it.
      if (question.mode === 'url' && (trigger === 'tool_elicitation' || trigger === 'a2a_auth_required'))
        return ['tick', words.pageDone(asker)];
      return ['tick', words.answered(asker)];
    case 'decline':
      return ['dash', isApproved ? withCall(title(words.refused)) : title(words.declined)];
    case 'expired':
      if (because === 'server_gave_up') return ['clock', words.gaveUp(asker)];
      return ['clock', title(isLate ? words.tooLate : words.expired)];
    case 'cancel':
      return ['dash', title(sent === 'cancel' ? words.dismissed : words.closed)];
    case 'pending':
      return ['dash', title(words.closed)];
    default:
      return status satisfies never;
  }
}

/** A link to the page for connecting accounts. */
export function ConnectLink({ to, server, words }: { to: string; server: string | undefined; words: Words }) {
  return (
    <a className="link" href={to} target="_blank" rel="noopener noreferrer">
      {words.connect(server ?? words.agent)}
    </a>
  );
}
