/** Passes a cancellation on, with its reason. */
export function mapStream<From, To>(
  stream: ReadableStream<From>,
  map: (part: From) => To[],
): ReadableStream<To> {
  const transform = new TransformStream<From, To>({
    transform(part, controller) {
      for (const mapped of map(part)) controller.enqueue(mapped);
    },
  });
  return stream.pipeThrough(transform);
}
