import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
from sklearn.datasets import load_iris
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(1)
X, y = load_iris(return_X_y=True)
Y = OneHotEncoder(sparse_output=False).fit_transform(y[:, None])
X_train, X_test, Y_train, Y_test = train_test_split(StandardScaler().fit_transform(X), Y, test_size=0.3, random_state=2, stratify=y)
model = keras.Sequential([
    keras.layers.Dense(12, activation="relu"),
    keras.layers.Dense(12, activation="relu"),
    keras.layers.Dense(3, activation="softmax"),
])
model.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.Adam(0.01), metrics=["accuracy"])
model.fit(X_train, Y_train, validation_data=(X_test, Y_test), epochs=40, batch_size=10, verbose=2)
print("final accuracy", model.evaluate(X_test, Y_test, verbose=0)[1])
