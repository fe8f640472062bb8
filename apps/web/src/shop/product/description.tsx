import classes from './description.module.css'

const POINT = /^\s*[•*–-]\s+/

/** A product's description: its lines as they are, and a list where lines begin with a bullet. */
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

/** Lines of the same kind that follow each other. Empty lines end a part. */
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
