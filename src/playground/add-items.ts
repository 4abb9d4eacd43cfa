/** Adds arrived items of the feed to those shown, and removes the text that a repeated model call made void. Pure. */
import type { FeedItem } from '../client/follow-feed.ts';
import { inOneLine } from './in-one-line.ts';

export function changesLines({ event }: FeedItem): boolean {
  return event.type === 'reset-step' || inOneLine(event) !== null;
}

export function addItems(shown: readonly FeedItem[], arrived: readonly FeedItem[]): FeedItem[] {
  let items = [...shown];
  for (const item of arrived) {
    if (item.event.type === 'reset-step') items = withoutLastWords(items, item);
    else items.push(item);
  }
  return items;
}

/** A step that was reset had said no more than words, and the one before it ended in something else. */
function withoutLastWords(items: FeedItem[], { event: reset }: FeedItem): FeedItem[] {
  const isSameAgent = ({ event }: FeedItem) =>
    event['turnId'] === reset['turnId'] && event['parentToolCallId'] === reset['parentToolCallId'];
  const isWords = ({ event }: FeedItem) => event.type === 'text-start';
  const last = items.findLastIndex((item) => isSameAgent(item) && !isWords(item));
  return items.filter((item, index) => index <= last || !isSameAgent(item) || !isWords(item));
}
