export function finishDocument(document) {
  return document;
}
