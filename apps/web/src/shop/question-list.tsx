import type { Faq } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useNames } from '../i18n/names.ts'
import classes from './question-list.module.css'

type Props = {
  /** Undefined while loading. */
  questions?: Faq[] | undefined
  /** The number of placeholders while loading. */
  places: number
}

export function QuestionList({ questions, places }: Props) {
  const { text } = useNames()
  return (
    <div className={classes.questions} aria-busy={!questions}>
      {questions
        ? questions.map(faq => (
            <details key={faq.id}>
              <summary>{text(faq, faq.question, 'question')}</summary>
              <p>{text(faq, faq.answer, 'answer')}</p>
            </details>
          ))
        : Array.from({ length: places }, (_, key) => <Skeleton key={key} height="3.33rem" mb={1} />)}
    </div>
  )
}
