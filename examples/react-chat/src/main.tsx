/** One conversation, named in the address: whoever loads the page again comes back to it. */
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.tsx';
import { read } from './interlude.ts';
import type { Message } from './interlude.ts';

const known = location.hash.slice(1);
const conversation = known || crypto.randomUUID();

function App() {
  const [said, setSaid] = useState<Message[] | null>(known ? null : []);
  const [visit, setVisit] = useState(0);
  const [failure, setFailure] = useState<Error | null>(null);

  useEffect(() => {
    if (known) read(known).then(({ messages }) => setSaid(messages.items), setFailure);
  }, []);

  /** With a chat of its own each time: version 5 would add a replay to what it has. */
  function comeBack(messages: Message[]) {
    setSaid(messages);
    setVisit((count) => count + 1);
  }

  if (failure) return <p role="alert">{failure.message}</p>;
  return said && <Chat key={visit} conversation={conversation} said={said} onCut={comeBack} />;
}

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
