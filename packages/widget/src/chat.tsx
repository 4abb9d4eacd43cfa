/** The chat: messages, open questions, and the composer. */
import { useEffect, useMemo, useRef } from 'react';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import { useAttachedImages } from './attached-images.tsx';
import { answerWith } from './use-answer.ts';
import { Composer } from './composer.tsx';
import { keepDraft, keepDraftImages, useDraft } from './tab-memory.ts';
import { imagesOf, isSilent, openQuestions, textOf } from './message.ts';
import type { DraftOwner } from './tab-memory.ts';
import type { Message } from './message.ts';
import { MessageView } from './message-view.tsx';
import { cardId } from './question-card.tsx';
import { useIsInView, useKeptFocus, useKeptPlace, useStickToEnd } from './stay-in-place.ts';
import { useConversation } from './use-conversation.ts';
import type { ConversationOptions, Phase } from './use-conversation.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface ChatProps extends Omit<ConversationOptions, 'onUnknown'> {
  /** As in `ConversationOptions`; also gets the current draft. */
  onUnknown: ((written: string) => void) | undefined;
  words: Words;
  suggestions: readonly string[];
  /** Whether the user may send images. */
  takesImages: boolean;
  isSignedOut: DraftOwner['isSignedOut'];
  /** Called after every change of the conversation. */
  onChange?: (messages: readonly Message[], phase: Phase) => void;
}

export function Chat(props: ChatProps) {
  const { words, suggestions, takesImages, isSignedOut, onChange, onUnknown, ...given } = props;
  const { client, conversationId } = given;
  const writing = useRef({ text: '', giveBack: (_: Message) => {} });
  const options = { ...given, onUnknown: onUnknown && (() => onUnknown(writing.current.text)) };
  const conversation = useConversation(options, (message) => writing.current.giveBack(message));
  const { messages, phase, isReconnecting, isUnattended, failure } = conversation;
  const owner = { conversationId, isKnown: phase !== 'loading', isSignedOut };
  const draft = useDraft(owner);
  const images = useAttachedImages(words, owner);
  writing.current = {
    text: draft.text,
    giveBack(message) {
      draft.giveBack(textOf(message));
      images.giveBack(imagesOf(message));
    },
  };
  const answering = useMemo(() => answerWith(client, conversationId), [client, conversationId]);
  const chat = useRef<HTMLDivElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const toEnd = useStickToEnd(log, messages);
  const keepPlace = useKeptPlace(log, messages[0]?.id);
  const waiting = openQuestions(messages);
  const first = waiting[0]?.elicitationId;
  const isInView = useIsInView(log, first === undefined ? undefined : cardId(first));
  useKeptFocus(chat, log, conversation);
  useEffect(() => onChange?.(messages, phase), [messages, phase, onChange]);
  useKeptMessage(owner, phase === 'sending' ? messages.at(-1) : undefined);

  function sendAgain(message: Message) {
    conversation.send(textOf(message), imagesOf(message));
  }

  function askAgainAfter(index: number) {
    const asked = messages.slice(0, index).findLast(({ role }) => role === 'user');
    return asked && phase === 'idle' ? () => sendAgain(asked) : undefined;
  }

  function show(elicitationId: string) {
    const root = log.current?.getRootNode() as ShadowRoot | Document | undefined;
    const card = root?.getElementById(cardId(elicitationId));
    const isTall = (card?.offsetHeight ?? 0) > (log.current?.clientHeight ?? 0);
    card?.scrollIntoView({ block: isTall ? 'start' : 'nearest' });
    card?.focus();
  }

  const unanswered = phase === 'idle' && failure === null && unansweredIn(messages);
  const isBusy =
    (phase === 'working' || phase === 'sending') && waiting.length === 0 && !isSeenAtWork(messages.at(-1));
  return (
    <div
      className="chat"
      ref={chat}
      // A file that is dropped beside the composer would replace the page.
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        if (takesImages) void images.add([...event.dataTransfer.files]);
      }}
    >
      <div
        className="log"
        ref={log}
        role="log"
        aria-label={words.conversation}
        // So that screen readers read a complete answer, not its pieces.
        aria-busy={phase === 'loading' || (phase === 'working' && waiting.length === 0)}
        tabIndex={0}
      >
        {phase !== 'loading' && messages.length === 0 && (
          <div className="welcome">
            <p>{words.welcome}</p>
            {suggestions.map((text) => (
              <button type="button" key={text} onClick={() => conversation.send(text)}>
                {text}
              </button>
            ))}
          </div>
        )}
        {conversation.showEarlier && (
          <button
            type="button"
            className="link"
            onClick={() => {
              keepPlace();
              void conversation.showEarlier?.();
            }}
          >
            {words.earlier}
          </button>
        )}
        {messages.map((message, index) => (
          <MessageView
            key={message.id}
            {...{ message, answering, words }}
            now={client.now}
            askAgain={askAgainAfter(index)}
          />
        ))}
        <div className="status" role="status">
          {(isBusy || isReconnecting) && (
            <p className={isReconnecting ? 'working lost' : 'working'}>
              <span className="pulse" aria-hidden="true" />
              {isReconnecting ? words.reconnecting : isUnattended ? words.unattended : words.working}
            </p>
          )}
        </div>
        {unanswered && (
          <div className="settled">
            <span>{words.noAnswer}</span>
            <button type="button" className="link" onClick={() => sendAgain(unanswered)}>
              {words.askAgain}
            </button>
          </div>
        )}
        {failure !== null && (
          <div className="failure" role="alert">
            <p dir="auto">{failure.words}</p>
            {failure.again && (
              <button type="button" className="link" onClick={failure.again}>
                {words.tryAgain}
              </button>
            )}
          </div>
        )}
      </div>
      {first !== undefined && (
        // With its card in view it is for screen readers, and for the keyboard a way to the card.
        <div className={isInView ? 'foot in-view' : 'foot'}>
          <div className="dock" role="status">
            <span className="pulse" aria-hidden="true" />
            <span dir="auto">
              {words.waitingForYou(waiting.length)}: <strong>{titlesOf(waiting, words)}</strong>
            </span>
            <button type="button" className="link" onClick={() => show(first)}>
              {words.show}
            </button>
          </div>
        </div>
      )}
      <div className="foot">
        <Composer
          words={words}
          draft={draft}
          images={takesImages ? images : undefined}
          mayStop={phase === 'working' || (phase === 'sending' && isReconnecting)}
          // A new message replaces a turn that only waits for a person.
          maySend={phase === 'idle' || waiting.length > 0}
          onSend={(text, urls) => {
            toEnd();
            conversation.send(text, urls);
          }}
          onStop={conversation.stop}
        />
      </div>
    </div>
  );
}

function titlesOf(waiting: ReturnType<typeof openQuestions>, words: Words): string {
  return [...new Set(waiting.map(({ context }) => askerTitle(context) ?? words.agent))].join(', ');
}

/** When the chat is removed while a message is being sent, the message becomes a draft. */
function useKeptMessage({ conversationId, isSignedOut }: DraftOwner, message: Message | undefined): void {
  const onItsWay = useRef(message);
  onItsWay.current = message;
  useEffect(
    () => () => {
      if (!onItsWay.current || isSignedOut()) return;
      keepDraft(conversationId, textOf(onItsWay.current));
      keepDraftImages(conversationId, imagesOf(onItsWay.current));
    },
    [conversationId],
  );
}

/** The last message of the user, if its turn ended without an answer: cancelled, or failed at once. */
function unansweredIn(messages: readonly Message[]): Message | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return last;
  return isSilent(last) ? messages.findLast(({ role }) => role === 'user') : undefined;
}

/** A running tool and streaming text show the work themselves; a line below them would keep moving. */
function isSeenAtWork(message: Message | undefined): boolean {
  const part = message?.parts.at(-1);
  if (part?.type === 'text') return message?.role === 'assistant' && part.state === 'streaming';
  return part?.type === 'dynamic-tool' && part.state.startsWith('input');
}
