import { stringifyJson, type StepExecution } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Button } from '../../../components/button.js';
import { CopyText } from '../../../components/copy-text.js';
import './step-details.css';

/** Shows the values of an execution as a tree or, when the user asks, the whole execution as the API returns it. */
export function RawExecution({
  execution,
  children,
}: {
  readonly execution: StepExecution;
  readonly children: ReactNode;
}): ReactNode {
  const [isRaw, setRaw] = useState(false);
  return (
    <>
      <p className="raw-choice">
        <Button isSmall variant="quiet" onPress={() => setRaw(!isRaw)}>
          {isRaw ? 'Show as a tree' : 'Show raw JSON'}
        </Button>
      </p>
      {isRaw ? <RawText text={stringifyJson(execution, 2)} /> : children}
    </>
  );
}

/** The page doesn't truncate anything. The server doesn't keep inputs and outputs of more than about 4 kB. */
function RawText({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="raw-text">
      <CopyText text={text} what="the raw JSON of the execution" />
      <pre tabIndex={0} aria-label="Raw JSON of the execution">
        {text}
      </pre>
    </div>
  );
}
