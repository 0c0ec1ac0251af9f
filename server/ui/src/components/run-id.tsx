import type { ReactNode } from 'react';
import './run-id.css';

const START = 10;
/** The end of an id is always shown: ids may differ only there. */
const TAIL = 8;

/** The id of a run without its middle. Copying it and reading it aloud give the whole id. */
export function RunId({ id }: { readonly id: string }): ReactNode {
  if (id.length <= START + TAIL + 1) return <code>{id}</code>;
  return (
    <code className="run-id" title={id}>
      <span className="run-id-short" aria-hidden="true">
        {id.slice(0, START)}…{id.slice(-TAIL)}
      </span>
      <span className="visually-hidden">{id}</span>
    </code>
  );
}
