import { redirect } from 'next/navigation';
import { signedIn, signIn } from '../lib/session.ts';

export default async function Home() {
  if (await signedIn()) redirect(`/${crypto.randomUUID()}`);

  async function enter(form: FormData) {
    'use server';
    await signIn(form.get('user') === 'bob' ? 'bob' : 'alice');
    redirect(`/${crypto.randomUUID()}`);
  }
  return (
    <main>
      <h1>Who are you?</h1>
      <form action={enter}>
        <button name="user" value="alice">
          Alice
        </button>{' '}
        <button name="user" value="bob">
          Bob
        </button>
      </form>
    </main>
  );
}
