import { useState } from 'react';
import type { Question } from './interlude.ts';

interface Props {
  call: Question['context'];
  answer(action: 'accept' | 'decline', more?: object): void;
}

/** What will be sent, as it will be sent; and how long a yes counts. */
export function ApprovalForm({ call, answer }: Props) {
  const [remember, setRemember] = useState('');
  const [reason, setReason] = useState('');
  return (
    <>
      <p>
        What will be sent to <code>{call.toolName}</code>:
      </p>
      <pre>{call.arguments}</pre>
      <label>
        Next time{' '}
        <select value={remember} onChange={(event) => setRemember(event.target.value)}>
          <option value="">ask me again</option>
          <option value="conversation">do not ask in this conversation</option>
          <option value="always">never ask again for this tool</option>
        </select>
      </label>
      <label>
        Why not (optional){' '}
        <input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
      </label>
      <button onClick={() => answer('accept', remember ? { remember } : {})}>Approve</button>
      <button onClick={() => answer('decline', reason ? { reason } : {})}>Decline</button>
    </>
  );
}
