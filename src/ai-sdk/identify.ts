/** What every version of the interface wants to know about a model. */
export interface Identity {
  readonly provider: string;
  readonly modelId: string;
  supportedUrls: Record<string, RegExp[]>;
}

export function identify(agentId: string): Identity {
  return {
    provider: 'interlude',
    modelId: agentId,
    // As if every file could be read from its URL, so that nothing is downloaded only to be refused.
    supportedUrls: { '*/*': [/^/] },
  };
}
