/** What Nango's own client throws, reduced to what Nango said. */
export async function refusalOf(promise: Promise<unknown>) {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  const { response } = thrown as {
    response?: { status: number; headers: Record<string, string>; data: { error: Record<string, unknown> } };
  };
  if (!response) throw new Error('Nango did not refuse');
  const { status, headers, data } = response;
  return { status, headers, error: data.error };
}
