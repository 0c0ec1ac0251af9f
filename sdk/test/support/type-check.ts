/** The errors of the compiler in files, with the settings of a package. */
import { dirname } from 'node:path';
import ts from 'typescript';

export function typeErrors(
  tsconfig: string,
  files: readonly string[],
  overrides: ts.CompilerOptions = {},
): readonly string[] {
  const { config } = ts.readConfigFile(tsconfig, (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(tsconfig));
  const program = ts.createProgram([...files], { ...options, noEmit: true, ...overrides });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    return `${file?.fileName ?? ''}:${line} ${text}`;
  });
}
