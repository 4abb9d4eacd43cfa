/** What Slack sends: signed requests, and events, which are sent again until they are accepted. */
import { createHmac, randomUUID } from 'node:crypto';

export interface Sent {
  status: number;
  body: string;
}

export interface SendOptions {
  /** Default now. */
  timestamp?: number;
  /** Instead of the right one; null: none. */
  signature?: string | null;
  headers?: Record<string, string>;
}

export interface EventOptions extends SendOptions {
  team: string;
  /** Default a new one. */
  eventId?: string;
}

export function createSender(signingSecret: string) {
  /** `body` as its very bytes. */
  async function send(
    url: string,
    body: string,
    contentType: string,
    options: SendOptions = {},
  ): Promise<Sent> {
    const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000));
    const { signature = sign(signingSecret, timestamp, body) } = options;
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': contentType,
        'x-slack-request-timestamp': timestamp,
        ...(signature !== null && { 'x-slack-signature': signature }),
        ...options.headers,
      },
    });
    return { status: response.status, body: await response.text() };
  }

  /** Once, with the number of the redelivery if it is one. */
  function sendEvent(
    url: string,
    event: Record<string, unknown>,
    { team, eventId = newEventId(), retry = 0, ...options }: EventOptions & { retry?: number },
  ): Promise<Sent> {
    const isAgain = { 'x-slack-retry-num': String(retry), 'x-slack-retry-reason': 'http_timeout' };
    const headers = { ...options.headers, ...(retry > 0 && isAgain) };
    const body = JSON.stringify(envelope(team, eventId, event));
    return send(url, body, 'application/json', { ...options, headers });
  }

  return {
    send,
    sendEvent,
    /** At each of these addresses in turn until one takes it, as Slack does it without its pauses: three times more at most. */
    async deliver(urls: string[], event: Record<string, unknown>, options: EventOptions): Promise<Sent[]> {
      const eventId = options.eventId ?? newEventId();
      const sent: Sent[] = [];
      for (let retry = 0; retry <= 3; retry += 1) {
        const url = urls[retry % urls.length] ?? '';
        const answer = await sendEvent(url, event, { ...options, eventId, retry }).catch(() => null);
        sent.push(answer ?? { status: 0, body: '' });
        if (answer?.status === 200) break;
      }
      return sent;
    },
    /** `payload=…`, as interactivity comes; or the fields of a slash command. */
    sendForm: (url: string, fields: Record<string, string>, options?: SendOptions): Promise<Sent> =>
      send(url, new URLSearchParams(fields).toString(), 'application/x-www-form-urlencoded', options),
  };
}

export function newEventId(): string {
  return `Ev${randomUUID().replaceAll('-', '').slice(0, 12).toUpperCase()}`;
}

export function sign(secret: string, timestamp: string, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function envelope(team: string, eventId: string, event: Record<string, unknown>) {
  return {
    type: 'event_callback',
    token: 'deprecated',
    team_id: team,
    api_app_id: 'A1',
    event,
    event_id: eventId,
    event_time: Math.floor(Date.now() / 1000),
    authorizations: [{ team_id: team, is_bot: true, is_enterprise_install: false }],
  };
}
