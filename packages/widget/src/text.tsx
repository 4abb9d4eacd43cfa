/** The agent's text: untrusted Markdown as our own elements. No HTML is parsed. */
import { useMemo, useRef } from 'react';
import type { ReactElement } from 'react';
import { readGrowing } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Block, Reading } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Span } from '@interlude-ai/core/markdown/spans.ts';

export function Markdown({ text }: { text: string }) {
  const before = useRef<Reading>(undefined);
  const { blocks } = useMemo(() => (before.current = readGrowing(text, before.current)), [text]);
  return (
    <div className="markdown" dir="auto">
      <Blocks blocks={blocks} />
    </div>
  );
}

function Blocks({ blocks }: { blocks: Block[] }) {
  return blocks.map((block, index) => {
    const drawn = elements.get(block) ?? <BlockView key={index} block={block} />;
    elements.set(block, drawn);
    return drawn;
  });
}

/**
 * An unchanged block stays the same element, which is not rendered again. Text only grows at the end, so indexes are stable
 * keys.
 */
const elements = new WeakMap<Block, ReactElement>();

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p>
          <Spans spans={block.spans} />
        </p>
      );
    case 'heading': {
      // The page has its own headings of the first two levels.
      const Heading = `h${Math.min(6, block.level + 2)}` as 'h3';
      return (
        <Heading>
          <Spans spans={block.spans} />
        </Heading>
      );
    }
    case 'code':
      return (
        <pre dir="ltr" tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list': {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case 'table':
      return <Table {...block} />;
    case 'rule':
      return <hr />;
    default:
      return block satisfies never;
  }
}

function Table({ head, rows }: Extract<Block, { kind: 'table' }>) {
  return (
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Spans spans={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {/* Short rows are not filled up: a few kilobytes could become millions of cells. */}
          {rows.map((row, index) => (
            <tr key={index}>
              {row.slice(0, head.length).map((cell, column) => (
                <td key={column}>
                  <Spans spans={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Spans({ spans }: { spans: Span[] }) {
  return spans.map((span, index) => <SpanView key={index} span={span} />);
}

function SpanView({ span }: { span: Span }) {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'break':
      return <br />;
    case 'code':
      return <code>{span.text}</code>;
    case 'strong':
      return (
        <strong>
          <Spans spans={span.spans} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Spans spans={span.spans} />
        </em>
      );
    case 'deleted':
      return (
        <del>
          <Spans spans={span.spans} />
        </del>
      );
    case 'link':
      return (
        <>
          <a href={span.href} target="_blank" rel="noopener noreferrer nofollow">
            <Spans spans={span.spans} />
          </a>
          {span.host && <bdi> ({span.host})</bdi>}
        </>
      );
    default:
      return span satisfies never;
  }
}
