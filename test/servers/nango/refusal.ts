/** How Nango refuses: one shape, `{error: {code, …}}`. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: { error: Record<string, unknown> };
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(code);
    this.status = status;
    this.body = { error: { code, ...more } };
    this.headers = headers;
  }
}
