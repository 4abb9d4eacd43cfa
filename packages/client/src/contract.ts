/** Schemas of everything on the wire. */
export * from '@interlude-ai/core/contract/index.ts';
