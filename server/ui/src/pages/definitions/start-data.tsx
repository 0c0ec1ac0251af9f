/** The start data, as a form generated from the definition's schema, or as JSON or YAML. */
import type { ReactNode } from 'react';
import { DataForm } from '../../data-form/data-form.js';
import { dataProblem, dataText, readData, type DataFormat } from '../../data-form/data-text.js';
import { draftsIn, writeData, type DataMembers, type Problem } from '../../data-form/data-value.js';
import type { ObjectField } from '../../data-form/form-fields.js';
import { placeMessages } from '../../data-form/form-values.js';
import { ViewChoice } from '../../components/view-choice.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { placeProblems } from '../../editor/problem-places.js';

/** The data in its current view. Only text can be unreadable. */
export type StartData =
  | { readonly view: 'form'; readonly value: DataMembers }
  | { readonly view: DataFormat; readonly text: string };

type View = StartData['view'];

const TEXT_LABELS: Readonly<Record<DataFormat, string>> = { json: 'JSON', yaml: 'YAML' };
const LABELS: Readonly<Record<View, string>> = { form: 'Form', ...TEXT_LABELS };

/** Null if the data can be sent. */
export function problemOf(data: StartData): string | null {
  if (data.view !== 'form') return dataProblem(data.text, data.view);
  return draftsIn(data.value).length > 0 ? 'Some fields are not filled in correctly.' : null;
}

/** @throws Error if the text cannot be read */
export function valueOf(data: StartData): DataMembers {
  return data.view === 'form' ? data.value : readData(data.text, data.view);
}

/** The same data in another view. Without a form, it is shown as JSON. */
export function shownAs(data: StartData, form: ObjectField | null): StartData {
  return data.view === 'form' && form === null ? inView(data, 'json') : data;
}

/** An invalid field becomes an invalid part of the JSON text, so no input is lost. */
function inView(data: StartData, view: View): StartData {
  if (data.view === 'form' && view === 'json') return { view, text: `${writeData(data.value)}\n` };
  const value = valueOf(data);
  return view === 'form' ? { view, value } : { view, text: dataText(value, view) };
}

interface StartDataEditorProps {
  readonly form: ObjectField | null;
  readonly data: StartData;
  readonly onChange: (data: StartData) => void;
  /** The problems that the server or the form found in the submitted data. */
  readonly problems: readonly Problem[];
}

export function StartDataEditor({
  form,
  data,
  onChange,
  problems,
}: StartDataEditorProps): ReactNode {
  const problem = problemOf(data);
  const canShow = (view: View): boolean =>
    view === data.view || problem === null || (data.view === 'form' && view === 'json');
  return (
    <section aria-labelledby="start-data-title" className="stacked">
      <div className="definition-bar">
        <h2 id="start-data-title">Data</h2>
        <ViewChoice
          label="Write the data as"
          views={form === null ? TEXT_LABELS : LABELS}
          view={data.view}
          onChoose={(view) => onChange(inView(data, view))}
          refusal={(view) => (canShow(view) ? null : 'Correct the data first.')}
        />
      </div>
      {data.view === 'form' && form !== null && (
        <DataForm
          form={form}
          value={data.value}
          onChange={(value) => onChange({ view: 'form', value })}
          messages={placeMessages(form, data.value, problems)}
        />
      )}
      {data.view !== 'form' && (
        <TextEditor {...{ data, problems }} onChange={onChange} problem={problem} />
      )}
    </section>
  );
}

function TextEditor({
  data,
  problem,
  problems,
  onChange,
}: {
  readonly data: Extract<StartData, { readonly view: DataFormat }>;
  readonly problem: string | null;
  readonly problems: readonly Problem[];
  readonly onChange: (data: StartData) => void;
}): ReactNode {
  const { view, text } = data;
  return (
    <>
      <LazyCodeEditor
        label={`Data as ${LABELS[view]}`}
        language={view}
        value={text}
        problems={placeProblems(text, problems, false)}
        onChange={(next) => onChange({ view, text: next })}
      />
      <p className="form-problem" role="status">
        {problem}
      </p>
    </>
  );
}
