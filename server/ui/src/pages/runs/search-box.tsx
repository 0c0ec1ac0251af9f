import { isApiError } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession, type Session } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { problemText } from '../../components/problem-view.js';
import { runsPath, WITH_CHILDREN } from './run-filter.js';

type Found =
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'definition'; readonly id: string }
  | { readonly kind: 'reference'; readonly text: string }
  | { readonly kind: 'nothing' };

/** Finds a run by id and opens it, or lists the runs of a definition or reference, including children. */
export function SearchBox(): ReactNode {
  const session = useSession();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState('');
  const [isBusy, setBusy] = useState(false);

  const search = async (): Promise<void> => {
    const wanted = text.trim();
    if (wanted === '') return;
    setBusy(true);
    setAnswer('');
    try {
      const found = await find(session, wanted);
      if (found.kind === 'nothing') {
        setAnswer('No run has this id or reference, and no definition has this id.');
        return;
      }
      setText('');
      if (found.kind === 'run') navigate(toPath('runs', found.id));
      else if (found.kind === 'definition')
        navigate(runsPath({ definitionId: found.id, parent: WITH_CHILDREN }));
      else navigate(runsPath({ reference: found.text, parent: WITH_CHILDREN }));
    } catch (error) {
      session.noticeFailure(error);
      setAnswer(problemText(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      role="search"
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        void search();
      }}
    >
      <input
        type="search"
        aria-label="Find a run by id or reference, or a definition"
        placeholder="Run id, reference or definition"
        value={text}
        maxLength={500}
        spellCheck={false}
        onChange={({ target }) => {
          setText(target.value);
          setAnswer('');
        }}
      />
      <Button type="submit" isDisabled={isBusy}>
        Find
      </Button>
      <span className="search-answer" role="status">
        {answer}
      </span>
    </form>
  );
}

/** If several match, a run takes precedence over a definition, and a definition over a reference. */
async function find({ client }: Session, text: string): Promise<Found> {
  const [run, definition, referring] = await Promise.all([
    existing(() => client.workflows.get(text)),
    existing(() => client.definitions.get(text)),
    existing(() => client.workflows.list({ reference: text, limit: 1 }).page()),
  ]);
  if (run !== null) return { kind: 'run', id: run.workflowId };
  if (definition !== null) return { kind: 'definition', id: text };
  if (referring !== null && referring.items.length > 0) return { kind: 'reference', text };
  return { kind: 'nothing' };
}

/** Null if nothing has this name, or if the name is invalid. */
async function existing<Value>(ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    if (isApiError(error) && (error.status === 404 || error.status === 400)) return null;
    // The SDK rejects `.` and `..`, which cannot be segments of an address.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
