/** How it looks to whoever reads when their connection is lost. */
export type Look =
  /** As Node says it. */
  | 'as it is'
  /** In the words of a browser. */
  | 'network error'
  /** A proxy in between ends the response as if that were all. */
  | 'end';

/** `onResponse` hears of every response that begins. */
export function fetchWhoseLossesLookLike(look: Look, onResponse: (response: Response) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    onResponse(response);
    const reader = response.body?.getReader();
    if (!reader) return response;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (look === 'end') controller.close();
          else controller.error(look === 'as it is' ? error : new TypeError('network error'));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  };
}
