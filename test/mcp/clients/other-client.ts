/** What every program of others that calls our agents has in common, for one test to try all of them. */

export interface AskedOfUser {
  mode: 'form' | 'url';
  message: string;
  url?: string;
}

export type UserAnswer =
  | { action: 'accept'; content?: Record<string, string> }
  | { action: 'decline' }
  | { action: 'cancel' };

export interface ClientSetting {
  url: string;
  token: string;
  /** The modes that the program declares; none when it cannot ask its user. */
  shows: { form?: true; url?: true };
  /** What its user does. When it rejects, the program is unable to ask. */
  answer(question: AskedOfUser): Promise<UserAnswer>;
  /** Called for each link whose page is done, by programs that support it. */
  onPageDone(elicitationId: string): void;
}

/** A result of a tool, or what the program says instead. */
export interface Told {
  text: string;
  /** The question that the result hands to the model. */
  elicitId?: string;
}

export interface OtherClient extends AsyncDisposable {
  call(tool: string, given: Record<string, unknown>): Promise<Told>;
}

export type StartClient = (setting: ClientSetting) => Promise<OtherClient>;

export function toTold(result: unknown): Told {
  const { content = [], _meta } = result as {
    content?: { text?: string }[];
    _meta?: { elicitationPending?: { elicitId: string } } | null;
  };
  const elicitId = _meta?.elicitationPending?.elicitId;
  return { text: content.map(({ text }) => text ?? '').join('\n'), ...(elicitId && { elicitId }) };
}

/** What a protocol's `elicitation/create` asks. */
export function toAsked(params: Record<string, unknown>): AskedOfUser {
  const { message, url } = params as { message: string; url?: string };
  return { mode: params['mode'] === 'url' ? 'url' : 'form', message, ...(url !== undefined && { url }) };
}
