/** Everything that clients and browsers of a test receive, as it came over the wire, and where they asked for it. */
export interface Received {
  url: URL;
  method: string;
  status: number;
  headers: [string, string][];
  body: string;
}

export interface Recorder {
  received: Received[];
  /** Resolves when every answer that has begun is here to its end. */
  settled(): Promise<void>;
  [Symbol.dispose](): void;
}

/** Listens in on `fetch`, which both the clients and the browser of the tests use. */
export function recordFetch(sees: (request: Request) => void): Recorder {
  const original = globalThis.fetch;
  const received: Received[] = [];
  const reading: Promise<void>[] = [];
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    sees(request);
    const response = await original(input, init);
    const { url, method } = request;
    const { status, headers } = response;
    const one = { url: new URL(url), method, status, headers: [...headers], body: '' };
    received.push(one);
    reading.push(read(response.clone(), one));
    return response;
  };
  return {
    received,
    async settled() {
      await Promise.all(reading);
    },
    [Symbol.dispose]: () => void (globalThis.fetch = original),
  };
}

async function read(response: Response, one: Received): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) one.body += decoder.decode(chunk, { stream: true });
  } catch {
    // The reader has gone; what came before counts.
  }
}
