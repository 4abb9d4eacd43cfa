/** A fetch whose connection is lost in the middle of a stream, in the words of a browser. */
export function brittleFetch(): { fetch: typeof fetch; lose: () => void } {
  let lose = () => {};
  return {
    lose: () => lose(),
    async fetch(input, init) {
      const response = await fetch(input, init);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        start: (controller) => {
          lose = () => controller.error(new TypeError('network error'));
        },
      });
      return new Response(response.body?.pipeThrough(cut), response);
    },
  };
}
