import { useEffect, useState } from 'react';
import type { Client } from '../client/client.ts';
import { wordsOf } from '../widget/failure.ts';

export interface Agents {
  ids: string[];
  /** Why they are not there; null while they are being asked for, too. */
  problem: string | null;
  retry(): void;
}

export function useAgents(client: Client): Agents {
  const [ids, setIds] = useState<string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    client.agents({ signal: leaving.signal }).then(
      (found) => setIds(found.map(({ id }) => id)),
      (error: unknown) => {
        if (!leaving.signal.aborted) setProblem(wordsOf(error));
      },
    );
    return () => leaving.abort();
  }, [client, attempt]);
  return {
    ids,
    problem,
    retry() {
      setProblem(null);
      setAttempt(attempt + 1);
    },
  };
}
