/**
 * The Python client as the `fetch` of `HttpAgent`: Python reads the input with its types, makes the request, and reads each event.
 * The package has no client that adds events up to messages, so `HttpAgent` does.
 */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pythonWith } from '../../programs/python-package.ts';
import { startProgram } from '../../programs/running-program.ts';

const script = path.join(import.meta.dirname, 'python-client.py');
const packages = ['httpx==0.28.1', 'ag-ui-validate==0.4.0'];

interface Line {
  run: number;
  status?: number;
  problem?: string;
  event?: object;
  /** Errors of the conformance checker, at the end of the stream. */
  findings?: string[];
}

export interface PythonClient {
  fetch: typeof fetch;
  /** What the conformance checker found in all runs. */
  findings: string[];
  stop(): Promise<void>;
}

/** Null where Python's packages cannot be installed. */
export async function startPythonClient(): Promise<PythonClient | null> {
  const python = await pythonWith('ag-ui-protocol', '1.0.0', ...packages);
  if (python.kind === 'missing') return null;
  const { PATH = '', HOME = '' } = process.env;
  const program = startProgram(python.executable, [script], {
    env: { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const runs = new Map<number, (line: Line) => void>();
  const findings: string[] = [];
  let last = 0;
  createInterface(program.child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    runs.get(line.run)?.(line);
  });
  const send = (line: object) => program.child.stdin.write(`${JSON.stringify(line)}\n`);

  return {
    findings,
    fetch(url, init) {
      const run = ++last;
      const authorization = new Headers(init?.headers).get('authorization');
      send({ run, url, authorization, body: JSON.parse(init?.body as string) });
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      program.ended.then(() => reject(new Error(program.written.both)), reject);
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          runs.set(run, ({ status, problem, event, findings: found }) => {
            if (problem !== undefined) return resolve(new Response(problem, { status: status ?? 500 }));
            const headers = { 'content-type': 'text/event-stream' };
            if (status !== undefined) return resolve(new Response(body, { status, headers }));
            if (event) controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
            if (!found) return;
            findings.push(...found);
            controller.close();
          });
        },
        cancel() {
          runs.delete(run);
          send({ run, cut: true });
        },
      });
      return promise;
    },
    async stop() {
      program.child.stdin.end();
      await program.ended;
    },
  };
}
