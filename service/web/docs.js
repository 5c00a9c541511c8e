"use strict";

const main = document.getElementById("routes");

function add(parent, tag, text) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// A paragraph; what stands between backticks is code.
function prose(parent, text) {
  const paragraph = add(parent, "p");
  text.split("`").forEach((part, place) => {
    if (place % 2) add(paragraph, "code", part);
    else paragraph.append(part);
  });
}

function resolve(api, schema) {
  return schema && schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema;
}

function kind(schema) {
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.anyOf) return schema.anyOf.map(kind).filter((k) => k !== "null").join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items || {})}`;
  return schema.type || (schema.$ref ? "object" : "any");
}

// What a field is and, where it has one, its default.
function said(field, description = field.description || "") {
  const given = field.default;
  if (!given) return description;
  return `${description}; ${typeof given === "string" ? given : JSON.stringify(given)} if left out`;
}

// A row a field; a field that is an object is followed by its own.
function rows(api, schema, inside = "") {
  const required = new Set(schema.required || []);
  return Object.entries(schema.properties || {}).flatMap(([name, field]) => [
    [inside + name, kind(field), said(field), required.has(name)],
    ...[field, ...(field.anyOf || [])].filter((part) => part.$ref)
      .flatMap((part) => rows(api, resolve(api, part), `${inside}${name}.`)),
  ]);
}

function table(parent, rows) {
  if (rows.length === 0) return;
  const body = add(add(parent, "table"), "tbody");
  for (const [name, type, text, required] of rows) {
    const line = add(body, "tr");
    add(add(line, "td"), "code", name + (required ? " *" : ""));
    add(line, "td", type);
    add(line, "td", text || "");
  }
}

const escaped = (text) => text.replaceAll("'", "'\\''");

function curl(method, path, schema, parameters) {
  // curl reads braces as a pattern: an example stands for each name in the path.
  const named = parameters.filter((p) => p.in === "path")
    .reduce((known, p) => known.replace(`{${p.name}}`, p.schema.examples[0]), path);
  const address = location.origin + named;
  const example = schema && schema.examples && schema.examples[0];
  const asked = parameters.filter((p) => p.in === "query" && p.required).map((p) => {
    const [value] = p.schema.examples || [p.name.toUpperCase()];
    return ` \\\n  --data-urlencode '${escaped(`${p.name}=${value}`)}'`;
  });
  if (asked.length && method === "get") return `curl -G ${address}${asked.join("")}`;
  if (!example) return `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${address}`;
  const body = escaped(JSON.stringify(example));
  const verb = method === "post" ? "" : ` -X ${method.toUpperCase()}`;
  return `curl${verb} ${address} \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}

function show(api, path, method, route) {
  const section = add(main, "section");
  const title = add(section, "h2");
  add(title, "span", method.toUpperCase());
  title.append(" " + path);
  for (const line of (route.description || "").split("\n\n")) prose(section, line);
  const content = route.requestBody && route.requestBody.content["application/json"];
  const schema = content && resolve(api, content.schema);
  table(section, [
    ...(route.parameters || []).map((p) => [
      p.name, `${kind(p.schema)} (${p.in})`, said(p.schema, p.description), p.required,
    ]),
    ...rows(api, schema || {}),
  ]);
  add(section, "pre", curl(method, path, schema, route.parameters || []));
}

fetch("/openapi.json")
  .then((response) => response.json())
  .then((api) => {
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, route] of Object.entries(methods)) show(api, path, method, route);
    }
  })
  .catch(() => add(main, "p", "The document could not be read."));
