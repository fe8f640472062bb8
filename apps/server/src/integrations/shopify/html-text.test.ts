import { expect, test } from 'vitest'
import { htmlToText } from './html-text.ts'

test.each([
  ['<p>One</p><p>Two &amp; three</p>', 'One\nTwo & three'],
  ['<ul><li>a</li>\n<li>b</li></ul>', '• a\n• b'],
  ['Fast<br>and <b>bold</b>', 'Fast\nand bold'],
  ['<script>alert(1)</script><style>p{}</style>safe<!-- no -->', 'safe'],
  ['5 &lt; 6 &#8364; &#x20AC; &unknown;', '5 < 6 € € &unknown;'],
  ['1 < 2', '1 < 2'],
  ['&lt;b&gt;', '<b>'],
  ['<a href="https://shop.example.com">a link</a><img src="x" alt="y">', 'a link'],
  ['<h2>Title</h2><ol><li>a</li></ol>', 'Title\n• a'],
  ['a<br>\n<br>\n<br>b', 'a\n\nb'],
  ['', '']
])('%j reads %j', (html, text) => {
  expect(htmlToText(html)).toBe(text)
})
