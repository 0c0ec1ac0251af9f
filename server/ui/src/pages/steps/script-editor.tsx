import { isApiError } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { placeProblems } from '../../editor/problem-places.js';

interface ScriptEditorProps {
  readonly name: string;
  readonly initialScript: string;
  readonly onStored: () => void;
}

/** Stores a script as the next version; what Python does not understand is marked where it stands. */
export function ScriptEditor({ name, initialScript, onStored }: ScriptEditorProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [script, setScript] = useState(initialScript);
  const [failure, setFailure] = useState<{ readonly error: unknown; readonly script: string }>();
  const [isPending, setPending] = useState(false);
  const problems = useMemo(
    () => (failure === undefined ? [] : placeError(failure.script, failure.error)),
    [failure],
  );
  const store = async (): Promise<void> => {
    setPending(true);
    setFailure(undefined);
    try {
      const { version } = await client.steps.put(name, script);
      say(`Stored ${name} as version ${version}`);
      onStored();
    } catch (error) {
      setFailure({ error, script });
    } finally {
      setPending(false);
    }
  };
  return (
    <div className="stacked">
      <LazyCodeEditor
        label="Script"
        language="python"
        value={script}
        onChange={setScript}
        problems={problems}
      />
      {failure !== undefined && <ProblemView error={failure.error} />}
      <div className="definition-bar">
        <span className="hint">Steps that run from now on take the newest version.</span>
        <Button
          variant="primary"
          needs="author"
          isDisabled={name.trim() === ''}
          isPending={isPending}
          onPress={() => void store()}
        >
          Store as new version
        </Button>
      </div>
    </div>
  );
}

function placeError(script: string, error: unknown): ReturnType<typeof placeProblems> {
  if (!isApiError(error)) return [];
  const { detail, code, line, column } = error.problem;
  if (typeof line !== 'number') return [];
  const item = { code, message: detail, line, ...(typeof column === 'number' && { column }) };
  return placeProblems(script, [item], false);
}
