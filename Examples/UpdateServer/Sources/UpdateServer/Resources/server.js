import { byID } from "./elements.js";

/** The path of a change of a module. */
export function address(module, action, query) {
  const text = new URLSearchParams(query).toString();
  return `api/modules/${encodeURIComponent(module)}/${action}${text ? `?${text}` : ""}`;
}

/** The field with the token, which every change needs. */
export const authorization = () => `Bearer ${byID("token").value}`;

/** The server's message, from the body of an answer that is not a success. */
export function message(status, text) {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return status === 0 ? "the server could not be reached" : `the server answered ${status}`;
  }
}

/** Asks the server; throws an error with its message. */
export async function ask(path, options) {
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch {
    throw new Error(message(0, ""));
  }
  if (!response.ok) throw new Error(message(response.status, text));
  return JSON.parse(text);
}
