import { useState } from 'react';
import type { ReactNode } from 'react';
import type { Question } from './interlude.ts';

interface Props {
  call: Question['context'];
  onAnswer(payload: { approved: boolean; remember?: string; reason?: string }): void;
  others: ReactNode;
}

/** The call as it will be sent, and how long a yes counts. */
export function ApprovalForm({ call, onAnswer, others }: Props) {
  const [remember, setRemember] = useState('');
  const [reason, setReason] = useState('');
  return (
    <>
      <p>
        <code>{call.toolName}</code> will be called with
      </p>
      <pre>{call.arguments}</pre>
      <label>
        Next time
        <select value={remember} onChange={(event) => setRemember(event.target.value)}>
          <option value="">ask again</option>
          <option value="conversation">approve in this conversation</option>
          <option value="always">approve always</option>
        </select>
      </label>
      <label>
        Reason, if you refuse
        <input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
      </label>
      <div className="buttons">
        <button
          className="primary"
          onClick={() => onAnswer({ approved: true, ...(remember && { remember }) })}
        >
          Approve
        </button>
        <button onClick={() => onAnswer({ approved: false, ...(reason && { reason }) })}>Refuse</button>
        {others}
      </div>
    </>
  );
}
