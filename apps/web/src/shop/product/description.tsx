import classes from './description.module.css'

const POINT = /^\s*[•*–-]\s+/

/** A product's description. Lines that start with a bullet become a list. */
export function Description({ text }: { text: string }) {
  return (
    <div className={classes.desc}>
      {partsOf(text).map(({ points, lines }, index) =>
        points ? (
          <ul key={index}>
            {lines.map((line, at) => (
              <li key={at}>{line.replace(POINT, '')}</li>
            ))}
          </ul>
        ) : (
          <p key={index}>{lines.join('\n')}</p>
        )
      )}
    </div>
  )
}

type Part = { points: boolean; lines: string[] }

/** Groups consecutive lines of the same kind. Empty lines end a group. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let ended = true
  for (const line of text.split(/\r?\n/)) {
    if (!line.trim()) {
      ended = true
      continue
    }
    const points = POINT.test(line)
    const last = parts.at(-1)
    if (last && !ended && last.points === points) last.lines.push(line)
    else parts.push({ points, lines: [line] })
    ended = false
  }
  return parts
}
