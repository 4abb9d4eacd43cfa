/** A conversation has an address. The server reads what was said, with a token of the signed-in user. */
import { notFound, redirect } from 'next/navigation';
import { signedIn, signOut } from '../../lib/session.ts';
import { tokenFor } from '../../lib/tokens.ts';
import { Chat } from './chat.tsx';
import type { Message } from './chat.tsx';

const service = process.env.INTERLUDE_URL ?? '';

export default async function Page({ params }: { params: Promise<{ conversation: string }> }) {
  const user = await signedIn();
  if (!user) redirect('/');
  const { conversation } = await params;
  if (!/^[\w-]{16,64}$/.test(conversation)) notFound();
  const response = await fetch(`${service}/run/v1/conversations/${conversation}?limit=100`, {
    headers: { authorization: `Bearer ${await tokenFor(user)}` },
  });
  // One that nothing was said in is not known yet; another user's is not, either.
  if (!response.ok && response.status !== 404) throw new Error(`The service answers ${response.status}.`);
  const { turn, messages } = response.ok
    ? ((await response.json()) as { turn: unknown; messages: { items: Message[] } })
    : { turn: null, messages: { items: [] } };

  async function leave() {
    'use server';
    await signOut();
    redirect('/');
  }
  return (
    <main>
      <h1>Hello, {user}</h1>
      <form action={leave}>
        <button>Sign out</button>
      </form>
      <Chat {...{ service, user, conversation }} said={messages.items} isLive={Boolean(turn)} />
    </main>
  );
}
