import { useState } from 'react';

export type Question = {
  elicitationId: string;
  message: string;
  context: { trigger: string; agent?: string; serverTitle?: string; arguments?: string };
  status: 'pending' | 'accept' | 'decline' | 'cancel' | 'expired';
} & ({ mode: 'url'; url: string } | { mode: 'form'; requestedSchema: Schema });

/** A form is flat. Arrays, titles of choices and defaults are in examples/react-chat. */
interface Schema {
  properties?: Record<string, { type?: string; format?: string; title?: string; enum?: string[] }>;
  required?: string[];
}

interface Props {
  question: Question;
  answer(elicitationId: string, decision: object): Promise<void>;
}

const outcomes = { accept: 'done', decline: 'not now', cancel: 'no longer needed', expired: 'too late' };

/** How it ends comes with the stream; nothing is decided here. */
export function QuestionCard({ question, answer }: Props) {
  const [failure, setFailure] = useState('');
  const { elicitationId, message, context, status } = question;
  const asker = context.serverTitle ?? context.agent ?? 'The agent';
  if (status !== 'pending') return <p>{`${asker}: ${outcomes[status]}`}</p>;

  const decide = (decision: object) => {
    setFailure('');
    answer(elicitationId, decision).catch((error: Error) => setFailure(error.message));
  };
  // A connected account is noticed by itself; for any other page, opening it is the consent.
  const isConsent = context.trigger !== 'credential_required';
  return (
    <section aria-label={`Question from ${asker}`}>
      <p>{message}</p>
      {context.trigger === 'approval' && (
        <>
          <pre>{context.arguments}</pre>
          <button onClick={() => decide({ action: 'accept' })}>Approve</button>
        </>
      )}
      {context.trigger !== 'approval' && question.mode === 'form' && (
        <Form schema={question.requestedSchema} send={(content) => decide({ action: 'accept', content })} />
      )}
      {question.mode === 'url' && (
        <Link {...question} open={() => isConsent && decide({ action: 'accept' })} />
      )}
      <button onClick={() => decide({ action: 'decline' })}>Not now</button>
      {failure && <p role="alert">{failure}</p>}
    </section>
  );
}

/** Opened only where it is encrypted. */
function Link({ url, open }: { url: string; open(): void }) {
  if (!url.startsWith('https:')) return <p>{url}</p>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" onClick={open}>
      {url}
    </a>
  );
}

/** The service reads numbers out of text, and checks everything. */
function Form({ schema, send }: { schema: Schema; send(content: object): void }) {
  const fields = Object.entries(schema.properties ?? {});
  const fieldOf = (name: string, { type, format, enum: choices }: (typeof fields)[number][1]) => {
    const common = { name, required: schema.required?.includes(name) };
    if (type === 'boolean') return <input type="checkbox" name={name} />;
    if (!choices) return <input {...common} type={format === 'date' ? 'date' : 'text'} />;
    return (
      <select {...common}>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const valueOf = (name: string, type?: string) =>
          type === 'boolean' ? data.has(name) : data.get(name);
        send(Object.fromEntries(fields.map(([name, { type }]) => [name, valueOf(name, type)])));
      }}
    >
      {fields.map(([name, field]) => (
        <label key={name}>
          {field.title ?? name}
          {fieldOf(name, field)}
        </label>
      ))}
      <button>Send answer</button>
    </form>
  );
}
